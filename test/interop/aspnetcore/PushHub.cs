using System.Collections.Concurrent;
using System.Security.Claims;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>A hub that calls its clients on its own, and counts how often, by the method and all who get it.</summary>
public sealed class PushHub : Hub
{
    private const string Room = "room";
    private static readonly ConcurrentDictionary<string, (string? User, bool InRoom)> Present = new();
    private static int connected;

    /// <summary>Every third connection is in the room.</summary>
    public override async Task OnConnectedAsync()
    {
        var inRoom = Interlocked.Increment(ref connected) % 3 == 0;
        if (inRoom) await Groups.AddToGroupAsync(Context.ConnectionId, Room);
        Present[Context.ConnectionId] = (Context.UserIdentifier, inRoom);
    }

    public override Task OnDisconnectedAsync(Exception? exception)
    {
        Present.TryRemove(Context.ConnectionId, out _);
        return Task.CompletedTask;
    }

    /// <summary>How many clients are connected.</summary>
    public static int PresentCount => Present.Count;

    public string Ask(string question) => question;

    /// <summary>So many rounds of a price to everybody, presence to the room, and a whisper to that user.</summary>
    /// <returns>How often each was to arrive.</returns>
    public static async Task<Dictionary<string, int>> Push(IHubContext<PushHub> hub, int rounds, string user)
    {
        var counts = new Dictionary<string, int> { ["Price"] = 0, ["Presence"] = 0, ["Whisper"] = 0 };
        for (var round = 0; round < rounds; round++)
        {
            await hub.Clients.All.SendAsync("Price", new string('p', 120));
            counts["Price"] += Present.Count;
            await hub.Clients.Group(Room).SendAsync("Presence", "here");
            counts["Presence"] += Present.Values.Count(client => client.InRoom);
            await hub.Clients.User(user).SendAsync("Whisper", new string('w', 3000));
            counts["Whisper"] += Present.Values.Count(client => client.User == user);
            await Task.Delay(5);
        }
        return counts;
    }
}

/// <summary>Who names a user in the query is that user; others are whom their token names.</summary>
public sealed class UserOfQuery : IUserIdProvider
{
    public string? GetUserId(HubConnectionContext connection)
    {
        var named = connection.GetHttpContext()?.Request.Query["user"].ToString();
        return string.IsNullOrEmpty(named) ? connection.User.FindFirst(ClaimTypes.NameIdentifier)?.Value : named;
    }
}
