using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>
/// The hub contract of the RecordLatency dialect. Sends are awaited, so that a failing send is an error of
/// the call, and the payload goes back as it came.
/// </summary>
public sealed class BenchHub : Hub
{
    private const string Callback = "RecordLatency";

    public override async Task OnConnectedAsync()
    {
        await base.OnConnectedAsync();
        await Clients.Caller.SendAsync("OnConnected", Context.ConnectionId);
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

    // Values arrive as JsonElement or, over MessagePack, as string.
    private static string Text(IDictionary<string, object> data, string key) =>
        data[key].ToString() ?? string.Empty;
}
