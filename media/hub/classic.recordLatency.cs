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
    public override async Task OnConnected()
    {
        await base.OnConnected();
        await Clients.Caller.OnConnected(Context.ConnectionId);
    }

    public Task Echo(IDictionary<string, object> message) =>
        Clients.Caller.RecordLatency(message);

    public Task Broadcast(IDictionary<string, object> message) =>
        Clients.All.RecordLatency(message);

    public Task SendToClient(IDictionary<string, object> message) =>
        Clients.Client(message["information.ConnectionId"].ToString()).RecordLatency(message);

    public Task SendToGroup(IDictionary<string, object> message) =>
        Clients.Group(message["information.GroupName"].ToString()).RecordLatency(message);

    public async Task JoinGroup(string group)
    {
        await Groups.Add(Context.ConnectionId, group);
        await Clients.Caller.JoinGroup();
    }

    public async Task LeaveGroup(string group)
    {
        await Groups.Remove(Context.ConnectionId, group);
        await Clients.Caller.LeaveGroup();
    }

    public Task ConnectionId() =>
        Clients.Caller.ConnectionId(Context.ConnectionId);

    public string GetConnectionId() => Context.ConnectionId;
}
