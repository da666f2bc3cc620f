using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

#pragma warning disable CS4014 // It does not wait for its sends.

/// <summary>The hub of the README of the Azure SignalR benchmark, as it stands there.</summary>
public class SeedHub : Hub
{
    public override async Task OnConnectedAsync()
    {
        await Clients.Client(Context.ConnectionId).SendAsync("OnConnected", Context.ConnectionId);
    }

    public void Echo(IDictionary<string, object> data)
    {
        Clients.Client(Context.ConnectionId).SendAsync("RecordLatency", data);
    }

    public void Broadcast(IDictionary<string, object> data)
    {
        Clients.All.SendAsync("RecordLatency", data);
    }

    public void SendToClient(IDictionary<string, object> data)
    {
        // The value is a JsonElement with System.Text.Json: this throws.
        var targetId = (string)data["information.ConnectionId"];
        Clients.Client(targetId).SendAsync("RecordLatency", data);
    }

    public void ConnectionId()
    {
        Clients.Client(Context.ConnectionId).SendAsync("ConnectionId", Context.ConnectionId);
    }

    public string GetConnectionId()
    {
        return Context.ConnectionId;
    }

    public async Task JoinGroup(string groupName)
    {
        await Groups.AddToGroupAsync(Context.ConnectionId, groupName);
        await Clients.Client(Context.ConnectionId).SendAsync("JoinGroup");
    }

    public async Task LeaveGroup(string groupName)
    {
        await Groups.RemoveFromGroupAsync(Context.ConnectionId, groupName);
        await Clients.Client(Context.ConnectionId).SendAsync("LeaveGroup");
    }

    public void SendToGroup(IDictionary<string, object> data)
    {
        var groupName = (string)data["information.GroupName"];
        Clients.Group(groupName).SendAsync("RecordLatency", data);
    }
}

/// <summary>The smaller one that it begins with.</summary>
public class SeedChatHub : Hub
{
    public override async Task OnConnectedAsync()
    {
        await Clients.Client(Context.ConnectionId).SendAsync("OnConnected", Context.ConnectionId);
    }

    public void Echo(IDictionary<string, object> data)
    {
        Clients.Client(Context.ConnectionId).SendAsync("RecordLatency", data);
    }
}
