// The official server of ASP.NET SignalR (package Microsoft.AspNet.SignalR.Core) on .NET of today, behind a host of our own:
// OWIN is a dictionary, so that a few lines hand it the requests of Kestrel. What .NET Framework has and .NET has not
// (performance counters, protection of data by the account) is replaced by the least that will do.
// First line on standard output: {"url":…}; ends when standard input ends.
using System.Net.WebSockets;
using System.Reflection;
using System.Text;
using System.Text.Json;
using Microsoft.AspNet.SignalR;
using ClassicConfiguration = Microsoft.AspNet.SignalR.Configuration.IConfigurationManager;
using Microsoft.AspNet.SignalR.Hubs;
using Microsoft.AspNet.SignalR.Infrastructure;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Env = System.Collections.Generic.IDictionary<string, object>;

var resolver = new DefaultDependencyResolver();
resolver.Register(typeof(IPerformanceCounterManager), () => DispatchProxy.Create<IPerformanceCounterManager, NoCounters>());
resolver.Register(typeof(IProtectedData), () => new OpenData());
resolver.Register(typeof(IAssemblyLocator), () => new OwnAssembly());
resolver.Resolve<ClassicConfiguration>().MaxIncomingWebSocketMessageSize = null;
var configuration = new HubConfiguration { Resolver = resolver, EnableJavaScriptProxies = false };

var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.UseUrls("http://127.0.0.1:0");
builder.WebHost.ConfigureKestrel(options => options.AllowSynchronousIO = true);
var app = builder.Build();
app.UseWebSockets();
app.Map("/signalr", branch => branch.Run(Answer));
await app.StartAsync();
var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>().Addresses.First();
Console.WriteLine(JsonSerializer.Serialize(new { url = $"{address}/signalrbench" }));
while (Console.ReadLine() is not null) { }
Environment.Exit(0);

async Task Answer(HttpContext context)
{
    var (request, response) = (context.Request, context.Response);
    var headers = request.Headers.ToDictionary(h => h.Key, h => h.Value.ToArray(), StringComparer.OrdinalIgnoreCase);
    var answered = new Dictionary<string, string[]>(StringComparer.OrdinalIgnoreCase);
    Func<Env, Task> accepted = null;
    Dictionary<string, object> env = null;
    response.OnStarting(() =>
    {
        if (env.TryGetValue("owin.ResponseStatusCode", out var status)) response.StatusCode = (int)status;
        foreach (var (name, value) in answered) response.Headers[name] = value;
        return Task.CompletedTask;
    });
    env = new Dictionary<string, object>
    {
        ["owin.Version"] = "1.0",
        ["owin.CallCancelled"] = context.RequestAborted,
        ["owin.RequestBody"] = request.Body,
        ["owin.RequestHeaders"] = headers,
        ["owin.RequestMethod"] = request.Method,
        ["owin.RequestPath"] = request.Path.Value,
        ["owin.RequestPathBase"] = request.PathBase.Value,
        ["owin.RequestProtocol"] = request.Protocol,
        ["owin.RequestQueryString"] = request.QueryString.Value.TrimStart('?'),
        ["owin.RequestScheme"] = request.Scheme,
        ["owin.ResponseBody"] = response.Body,
        ["owin.ResponseHeaders"] = answered,
        ["host.OnAppDisposing"] = CancellationToken.None,
        ["server.Capabilities"] = new Dictionary<string, object> { ["websocket.Version"] = "1.0" },
    };
    if (context.WebSockets.IsWebSocketRequest)
        env["websocket.Accept"] = (Action<Env, Func<Env, Task>>)((_, callback) => accepted = callback);
    try
    {
        var dispatcher = new HubDispatcher(configuration);
        dispatcher.Initialize(resolver);
        var processed = dispatcher.ProcessRequest(env);
        if (accepted is null) await processed;
    }
    catch (Exception error)
    {
        if (response.HasStarted) return;
        env["owin.ResponseStatusCode"] = 500;
        await response.WriteAsync(error.GetBaseException().Message);
        return;
    }
    if (accepted is not null)
    {
        var socket = await context.WebSockets.AcceptWebSocketAsync();
        await accepted(new Dictionary<string, object> { [typeof(WebSocketContext).FullName] = new Accepted(socket) });
    }
}

public class NoCounters : DispatchProxy
{
    protected override object Invoke(MethodInfo method, object[] arguments) =>
        method.ReturnType == typeof(IPerformanceCounter) ? DispatchProxy.Create<IPerformanceCounter, NoCounter>() : null;
}

public class NoCounter : DispatchProxy
{
    protected override object Invoke(MethodInfo method, object[] arguments) =>
        method.ReturnType.IsValueType && method.ReturnType != typeof(void) ? Activator.CreateInstance(method.ReturnType) : null;
}

// Tokens that anybody may read, each for one purpose.
class OpenData : IProtectedData
{
    public string Protect(string data, string purpose) => Convert.ToBase64String(Encoding.UTF8.GetBytes($"{purpose}|{data}"));

    public string Unprotect(string protectedValue, string purpose)
    {
        var text = Encoding.UTF8.GetString(Convert.FromBase64String(protectedValue));
        return text.StartsWith($"{purpose}|") ? text[(purpose.Length + 1)..] : throw new FormatException("of another purpose");
    }
}

class Accepted(WebSocket socket) : WebSocketContext
{
    public override WebSocket WebSocket => socket;
    public override System.Net.CookieCollection CookieCollection => null;
    public override System.Collections.Specialized.NameValueCollection Headers => null;
    public override bool IsAuthenticated => false;
    public override bool IsLocal => true;
    public override bool IsSecureConnection => false;
    public override string Origin => null;
    public override Uri RequestUri => null;
    public override string SecWebSocketKey => null;
    public override IEnumerable<string> SecWebSocketProtocols => [];
    public override string SecWebSocketVersion => null;
    public override System.Security.Principal.IPrincipal User => null;
}

class OwnAssembly : IAssemblyLocator
{
    public IList<Assembly> GetAssemblies() => [typeof(OwnAssembly).Assembly];
}
