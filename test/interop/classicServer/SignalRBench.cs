using Microsoft.AspNet.SignalR;
using Payload = System.Collections.Generic.IDictionary<string, object>;

/// <summary>The bench methods, in the hub that people of .NET Framework have.</summary>
public class SignalRBench : Hub
{
    public override Task OnConnected() => Clients.Caller.OnConnected(Context.ConnectionId);

    public void Echo(Payload data) => Clients.Caller.RecordLatency(data);

    public void Broadcast(Payload data) => Clients.All.RecordLatency(data);

    public void SendToClient(Payload data) =>
        Clients.Client((string)data["information.ConnectionId"]).RecordLatency(data);

    public void SendToGroup(Payload data) =>
        Clients.Group((string)data["information.GroupName"]).RecordLatency(data);

    public string GetConnectionId() => Context.ConnectionId;

    public void ConnectionId() => Clients.Caller.ConnectionId(Context.ConnectionId);

    public async Task JoinGroup(string group)
    {
        await Groups.Add(Context.ConnectionId, group);
        Clients.Caller.JoinGroup();
    }

    public async Task LeaveGroup(string group)
    {
        await Groups.Remove(Context.ConnectionId, group);
        Clients.Caller.LeaveGroup();
    }
}
