// Program.cs, before app.Run()
app.MapHub<BenchHub>("/signalrbench");

// BenchHub.cs
using Microsoft.AspNetCore.SignalR;

public sealed class BenchHub : Hub
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

    public Task JoinGroup(string group) =>
        Groups.AddToGroupAsync(Context.ConnectionId, group);

    public Task LeaveGroup(string group) =>
        Groups.RemoveFromGroupAsync(Context.ConnectionId, group);
}
