// Program.cs, before builder.Build()
builder.Services.AddSignalR(options =>
{
    // The default of 32 KB closes connections that send larger messages.
    options.MaximumReceiveMessageSize = 1024 * 1024;
});

// Program.cs, before app.Run()
app.MapHub<BenchHub>("/signalrbench");

// BenchHub.cs
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

/// <summary>Hands the messages of a benchmark back to those who are to measure them.</summary>
public sealed class BenchHub : Hub
{
    private const string Callback = "RecordLatency";

    public override async Task OnConnectedAsync()
    {
        await base.OnConnectedAsync();
        await Clients.Caller.SendAsync("OnConnected", Context.ConnectionId);
    }

    public Task Echo(IDictionary<string, object> message) =>
        Clients.Caller.SendAsync(Callback, message);

    public Task Broadcast(IDictionary<string, object> message) =>
        Clients.All.SendAsync(Callback, message);

    public Task SendToClient(IDictionary<string, object> message) =>
        Clients.Client(TextOf(message, "information.ConnectionId")).SendAsync(Callback, message);

    public Task SendToGroup(IDictionary<string, object> message) =>
        Clients.Group(TextOf(message, "information.GroupName")).SendAsync(Callback, message);

    public async Task JoinGroup(string groupName)
    {
        await Groups.AddToGroupAsync(Context.ConnectionId, groupName);
        await Clients.Caller.SendAsync("JoinGroup");
    }

    public async Task LeaveGroup(string groupName)
    {
        await Groups.RemoveFromGroupAsync(Context.ConnectionId, groupName);
        await Clients.Caller.SendAsync("LeaveGroup");
    }

    public async IAsyncEnumerable<IDictionary<string, object>> StreamingEcho(
        IAsyncEnumerable<IDictionary<string, object>> items,
        int delayMs,
        [EnumeratorCancellation] CancellationToken cancellation)
    {
        await foreach (var item in items.WithCancellation(cancellation))
        {
            if (delayMs > 0)
            {
                await Task.Delay(delayMs, cancellation);
            }
            yield return item;
        }
    }

    public async Task<int> StreamingUpload(IAsyncEnumerable<IDictionary<string, object>> items)
    {
        var count = 0;
        await foreach (var _ in items)
        {
            count++;
        }
        return count;
    }

    public async IAsyncEnumerable<IDictionary<string, object>> StreamingDownload(
        IDictionary<string, object> message,
        int count,
        int delayMs,
        [EnumeratorCancellation] CancellationToken cancellation)
    {
        var clock = Stopwatch.StartNew();
        for (var number = 0; number < count; number++)
        {
            // Each item has its own time, however late the one before it was.
            var waitMs = (long)number * delayMs - clock.ElapsedMilliseconds;
            if (waitMs > 0)
            {
                await Task.Delay((int)waitMs, cancellation);
            }
            var item = new Dictionary<string, object> { ["bench.Item"] = number.ToString("x8") };
            foreach (var (key, value) in message)
            {
                item[key] = value;
            }
            yield return item;
        }
    }

    public Task ConnectionId() =>
        Clients.Caller.SendAsync("ConnectionId", Context.ConnectionId);

    public string GetConnectionId() => Context.ConnectionId;

    private static string TextOf(IDictionary<string, object> message, string key) =>
        message[key].ToString() ?? throw new HubException($"{key} is empty");
}
