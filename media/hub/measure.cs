// Program.cs, before app.Run()
app.MapHub<BenchHub>("/signalrbench");

// BenchHub.cs
using Microsoft.AspNetCore.SignalR;

public sealed class BenchHub : Hub
{
    public Task Echo(long ticks, string payload) =>
        Clients.Caller.SendAsync("Measure", ticks, payload);

    public Task Broadcast(long ticks, string payload) =>
        Clients.All.SendAsync("Measure", ticks, payload);

    public Task SendToConnection(string receiver, long ticks, string payload) =>
        Clients.Client(receiver).SendAsync("Measure", ticks, payload);

    public Task GroupBroadcast(string receiver, long ticks, string payload) =>
        Clients.Group(receiver).SendAsync("Measure", ticks, payload);

    public Task JoinGroup(string group) =>
        Groups.AddToGroupAsync(Context.ConnectionId, group);

    public Task LeaveGroup(string group) =>
        Groups.RemoveFromGroupAsync(Context.ConnectionId, group);
}
