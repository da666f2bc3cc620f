using System.Diagnostics;
using System.Security.Claims;
using System.Text.Json;
using BenchServer;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.DataProtection;
using Microsoft.AspNetCore.Http.Connections;
using Microsoft.AspNetCore.SignalR;
using BenchHub = BenchServer.RecordLatency.BenchHub;
using MeasureHub = BenchServer.Measure.BenchHub;

// Arguments, all optional:
//   --port N (0 = any free port)       --max-message-bytes N      --transports WebSockets,LongPolling
//   --keep-alive-ms N                  --client-timeout-ms N      --poll-timeout-ms N
//   --auth bearer|cookie|jwt           --token TEXT               --affinity true
//   --issuer TEXT                      --audience TEXT            --pages FOLDER,FOLDER
// With --auth cookie, POST /signin answers with the cookie. With --auth jwt, --token is the key of the tokens, connections
// end with their tokens, and GET /users has how often each user has connected, and with how many tokens. With --affinity, negotiate sets a cookie, and
// requests of the connection that do not bring it back are answered 400, as behind a load balancer.
// GET /metrics has the process in the text format of Prometheus, under the names of .NET's own meters.
// GET /pushes answers how many clients are at the hub at /push.
// POST /pushes?rounds=N&user=NAME lets the hub at /push call its clients, and answers how often.
// GET /pages/NAME has a file of these folders. POST /drop aborts every connection, with ?mayReturn=true each may
// reconnect; POST /kill ends the process at once.
// Prints {"url":"…"} once it listens, and ends when standard input closes: no orphan survives the tests.

var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.ClearProviders();

var port = builder.Configuration.GetValue("port", 0);
var maxMessageBytes = builder.Configuration.GetValue("max-message-bytes", 1024L * 1024);
var transports = Enum.Parse<HttpTransportType>(
    builder.Configuration.GetValue("transports", "WebSockets,ServerSentEvents,LongPolling")!);
var keepAliveMs = builder.Configuration.GetValue("keep-alive-ms", 15_000);
var clientTimeoutMs = builder.Configuration.GetValue("client-timeout-ms", 30_000);
var pollTimeoutMs = builder.Configuration.GetValue("poll-timeout-ms", 90_000);
var auth = builder.Configuration.GetValue("auth", "");
var token = builder.Configuration.GetValue("token", "")!;
var issuer = builder.Configuration.GetValue<string?>("issuer");
var audience = builder.Configuration.GetValue<string?>("audience");
var affinity = builder.Configuration.GetValue("affinity", false);
var pages = builder.Configuration.GetValue("pages", "")!.Split(',', StringSplitOptions.RemoveEmptyEntries);

builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(System.Net.IPAddress.Loopback, port));
var live = new LiveConnections();
builder.Services.AddSignalR(hub =>
{
    hub.AddFilter(live);
    hub.EnableDetailedErrors = false;
    hub.MaximumReceiveMessageSize = maxMessageBytes;
    hub.KeepAliveInterval = TimeSpan.FromMilliseconds(keepAliveMs);
    hub.ClientTimeoutInterval = TimeSpan.FromMilliseconds(clientTimeoutMs);
});
builder.Services.AddSingleton<IUserIdProvider, UserOfQuery>();
// Nothing is kept on disk.
builder.Services.AddDataProtection().UseEphemeralDataProtectionProvider();
var scheme = auth switch
{
    "cookie" => CookieAuthenticationDefaults.AuthenticationScheme,
    "jwt" => WebTokenHandler.SchemeName,
    _ => TokenHandler.SchemeName,
};
builder.Services.AddAuthentication(scheme)
    .AddScheme<TokenOptions, TokenHandler>(TokenHandler.SchemeName, options => options.Token = token)
    .AddScheme<WebTokenOptions, WebTokenHandler>(WebTokenHandler.SchemeName, options =>
    {
        options.Key = token;
        options.Issuer = issuer;
        options.Audience = audience;
    })
    .AddCookie(cookie => cookie.Events.OnRedirectToLogin = context =>
    {
        context.Response.StatusCode = StatusCodes.Status401Unauthorized;
        return Task.CompletedTask;
    });
builder.Services.AddAuthorization();

using var counting = ServerMetrics.Listen();
await using var app = builder.Build();
if (affinity)
{
    app.Use(async (context, next) =>
    {
        var path = context.Request.Path.Value ?? "";
        if (path.EndsWith("/negotiate", StringComparison.Ordinal))
        {
            context.Response.Headers.Append("Set-Cookie", "affinity=here; Path=/; HttpOnly");
        }
        else if (context.Request.Cookies["affinity"] != "here")
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            return;
        }
        await next(context);
    });
}
app.UseAuthentication();
app.UseAuthorization();

void Options(HttpConnectionDispatcherOptions options)
{
    options.Transports = transports;
    options.CloseOnAuthenticationExpiration = auth == "jwt";
    options.LongPolling.PollTimeout = TimeSpan.FromMilliseconds(pollTimeoutMs);
}
var bench = app.MapHub<BenchHub>("/signalrbench", Options);
var measure = app.MapHub<MeasureHub>("/measure", Options);
app.MapHub<OwnHub>("/own", Options);
app.MapHub<ChatHub>("/chat", Options);
app.MapHub<PushHub>("/push", Options);
app.MapHub<SignedInHub>("/signedin", Options);
app.MapHub<SeedHub>("/seed", Options);
app.MapHub<SeedChatHub>("/seedchat", Options);
if (auth != "")
{
    bench.RequireAuthorization();
    measure.RequireAuthorization();
}

app.MapPost("/signin", (HttpContext context) => context.SignInAsync(
    CookieAuthenticationDefaults.AuthenticationScheme,
    new ClaimsPrincipal(new ClaimsIdentity([new(ClaimTypes.Name, "tester")], "signin"))));
app.MapPost("/drop", (bool? mayReturn) => live.EndAll(mayReturn == true).ToString());
app.MapPost("/kill", () => Process.GetCurrentProcess().Kill());
app.MapGet("/users", () => new Dictionary<string, object>
{
    ["connected"] = live.Users,
    ["tokens"] = WebTokenHandler.Tokens.Values.GroupBy(user => user).ToDictionary(user => user.Key, user => user.Count()),
});
app.MapGet("/pushes", () => PushHub.PresentCount);
app.MapPost("/pushes", (IHubContext<PushHub> hub, int rounds, string user) => PushHub.Push(hub, rounds, user));
app.MapGet("/cancelled", () => OwnHub.Cancelled.ToString());
app.MapGet("/metrics", ServerMetrics.Text);
app.MapGet("/pages/{name}", (string name) =>
{
    var file = pages.Select(folder => Path.GetFullPath(Path.Combine(folder, Path.GetFileName(name))))
        .FirstOrDefault(File.Exists);
    var type = name.EndsWith(".js", StringComparison.Ordinal) ? "text/javascript" : "text/html";
    return file is null ? Results.NotFound() : Results.File(file, $"{type}; charset=utf-8");
});
await app.StartAsync();

Console.WriteLine(JsonSerializer.Serialize(new { url = $"{app.Urls.First()}/signalrbench" }));

await Console.In.ReadToEndAsync();
await app.StopAsync(new CancellationTokenSource(TimeSpan.FromSeconds(1)).Token);
