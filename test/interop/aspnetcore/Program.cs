using System.Text.Json;
using BenchServer;

// Arguments: --port N (0 = any free port), --max-message-bytes N.
// Prints {"url":"…"} once it listens, and ends when standard input closes: no orphan survives the tests.

var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.ClearProviders();

var port = builder.Configuration.GetValue("port", 0);
var maxMessageBytes = builder.Configuration.GetValue("max-message-bytes", 1024L * 1024);

builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(System.Net.IPAddress.Loopback, port));
builder.Services.AddSignalR(hub =>
{
    hub.EnableDetailedErrors = false;
    hub.MaximumReceiveMessageSize = maxMessageBytes;
});

await using var app = builder.Build();
app.MapHub<BenchHub>("/signalrbench");
await app.StartAsync();

Console.WriteLine(JsonSerializer.Serialize(new { url = $"{app.Urls.First()}/signalrbench" }));

await Console.In.ReadToEndAsync();
await app.StopAsync(new CancellationTokenSource(TimeSpan.FromSeconds(1)).Token);
