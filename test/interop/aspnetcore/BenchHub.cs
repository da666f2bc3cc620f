using System.Diagnostics;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>
/// The hub contract of the RecordLatency dialect. Sends are awaited, so that a failing send is an error of
/// the call, and the payload goes back as it came.
/// </summary>
public sealed class BenchHub(LiveConnections live) : Hub
{
    private const string Callback = "RecordLatency";

    public override async Task OnConnectedAsync()
    {
        live.Add(Context);
        await base.OnConnectedAsync();
        await Clients.Caller.SendAsync("OnConnected", Context.ConnectionId);
    }

    public override Task OnDisconnectedAsync(Exception? exception)
    {
        live.Remove(Context);
        return base.OnDisconnectedAsync(exception);
    }

    public Task Echo(IDictionary<string, object> data) => Clients.Caller.SendAsync(Callback, data);

    public Task Broadcast(IDictionary<string, object> data) => Clients.All.SendAsync(Callback, data);

    public Task SendToClient(IDictionary<string, object> data) =>
        Clients.Client(Text(data, "information.ConnectionId")).SendAsync(Callback, data);

    public Task SendToGroup(IDictionary<string, object> data) =>
        Clients.Group(Text(data, "information.GroupName")).SendAsync(Callback, data);

    public Task ConnectionId() => Clients.Caller.SendAsync("ConnectionId", Context.ConnectionId);

    public string GetConnectionId() => Context.ConnectionId;

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

    /// <param name="stream">Uploaded items.</param>
    /// <param name="delay">Milliseconds to wait before each item goes back.</param>
    public async IAsyncEnumerable<IDictionary<string, object>> StreamingEcho(
        IAsyncEnumerable<IDictionary<string, object>> stream,
        int delay,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var item in stream.WithCancellation(cancellationToken))
        {
            if (delay > 0)
            {
                await Task.Delay(delay, cancellationToken);
            }
            yield return item;
        }
    }

    /// <summary>A stream that only goes up; the answer is how many items came.</summary>
    public Task<int> StreamingUpload(IAsyncEnumerable<IDictionary<string, object>> items) => Upload(items);

    /// <summary>A stream of numbered copies that only goes down.</summary>
    /// <param name="delay">Milliseconds from the time of one item to that of the next.</param>
    public async IAsyncEnumerable<IDictionary<string, object>> StreamingDownload(
        IDictionary<string, object> message,
        int count,
        int delay,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var clock = Stopwatch.StartNew();
        for (var number = 0; number < count; number++)
        {
            var wait = (long)number * delay - clock.ElapsedMilliseconds;
            if (wait > 0)
            {
                await Task.Delay((int)wait, cancellationToken);
            }
            var item = new Dictionary<string, object> { ["bench.Item"] = number.ToString("x8") };
            foreach (var (key, value) in message)
            {
                item[key] = value;
            }
            yield return item;
        }
    }

    /// <summary>A stream that only goes down.</summary>
    public async IAsyncEnumerable<int> Count(
        int items,
        int delay,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        for (var item = 0; item < items; item++)
        {
            await Task.Delay(delay, cancellationToken);
            yield return item;
        }
    }

    /// <summary>A stream that only goes up; the answer is how many items came.</summary>
    public async Task<int> Upload(IAsyncEnumerable<IDictionary<string, object>> stream)
    {
        var items = 0;
        await foreach (var _ in stream)
        {
            items++;
        }
        return items;
    }

    /// <summary>An echo that takes its time; the calls of one connection run one after the other.</summary>
    /// <param name="delay">Milliseconds.</param>
    public async Task SlowEcho(IDictionary<string, object> data, int delay)
    {
        await Task.Delay(delay, Context.ConnectionAborted);
        await Clients.Caller.SendAsync(Callback, data);
    }

    /// <summary>Ends the caller's connection without a word.</summary>
    public void Abort() => Context.Abort();

    // Values arrive as JsonElement or, over MessagePack, as string.
    private static string Text(IDictionary<string, object> data, string key) =>
        data[key].ToString() ?? string.Empty;
}
