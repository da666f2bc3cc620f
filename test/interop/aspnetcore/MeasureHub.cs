using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>The hub contract of the Measure dialect: ticks and payload go back as they came.</summary>
public sealed class MeasureHub : Hub
{
    private const string Callback = "Measure";

    public Task Echo(long ticks, string payload) =>
        Clients.Caller.SendAsync(Callback, ticks, payload);

    public Task Broadcast(long ticks, string payload) =>
        Clients.All.SendAsync(Callback, ticks, payload);

    public Task SendToConnection(string id, long ticks, string payload) =>
        Clients.Client(id).SendAsync(Callback, ticks, payload);

    public Task GroupBroadcast(string group, long ticks, string payload) =>
        Clients.Group(group).SendAsync(Callback, ticks, payload);

    public Task JoinGroup(string group) => Groups.AddToGroupAsync(Context.ConnectionId, group);

    public Task LeaveGroup(string group) => Groups.RemoveFromGroupAsync(Context.ConnectionId, group);
}
