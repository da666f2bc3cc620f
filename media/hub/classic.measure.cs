// Startup.cs, in Configuration(IAppBuilder app)
// The default of 64 KB closes web sockets that send larger messages.
GlobalHost.Configuration.MaxIncomingWebSocketMessageSize = 1024 * 1024;
app.MapSignalR(new HubConfiguration { EnableDetailedErrors = true });

// BenchHub.cs, with the package Microsoft.AspNet.SignalR
using System.Collections.Generic;
using System.Threading.Tasks;
using Microsoft.AspNet.SignalR;
using Microsoft.AspNet.SignalR.Hubs;

/// <summary>Hands the messages of a benchmark back to those who are to measure them.</summary>
[HubName("signalrbench")]
public class BenchHub : Hub
{
    public Task Echo(long ticks, string payload) =>
        Clients.Caller.Measure(ticks, payload);

    public Task Broadcast(long ticks, string payload) =>
        Clients.All.Measure(ticks, payload);

    public Task SendToConnection(string receiver, long ticks, string payload) =>
        Clients.Client(receiver).Measure(ticks, payload);

    public Task GroupBroadcast(string receiver, long ticks, string payload) =>
        Clients.Group(receiver).Measure(ticks, payload);

    public Task JoinGroup(string group) =>
        Groups.Add(Context.ConnectionId, group);

    public Task LeaveGroup(string group) =>
        Groups.Remove(Context.ConnectionId, group);
}
