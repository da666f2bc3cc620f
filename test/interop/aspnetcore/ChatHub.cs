using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>Rooms that people join, write to and leave: a hub that knows nothing of a benchmark.</summary>
public sealed class ChatHub : Hub
{
    private const int KeptMessages = 100;
    private static readonly ConcurrentDictionary<string, Room> Rooms = new();
    private static readonly ConcurrentDictionary<string, string> RoomOf = new();

    public async Task JoinRoom(string room)
    {
        RoomOf[Context.ConnectionId] = room;
        await Groups.AddToGroupAsync(Context.ConnectionId, room);
        await Clients.OthersInGroup(room).SendAsync("Joined", Context.ConnectionId);
    }

    /// <summary>How many people are in the room.</summary>
    public int Present(string room) => RoomOf.Values.Count(each => each == room);

    /// <summary>Everybody in the room gets the message, its author as well.</summary>
    public async Task SendMessage(string room, Draft message)
    {
        var posted = Rooms.GetOrAdd(room, _ => new Room()).Add(message);
        await Clients.Group(room).SendAsync("MessagePosted", posted);
    }

    public Message[] GetHistory(string room, int count) =>
        Rooms.TryGetValue(room, out var found) ? found.Latest(count) : [];

    public Task Typing(string room) =>
        Clients.OthersInGroup(room).SendAsync("Typing", Context.ConnectionId);

    public Task Acknowledge(string id) =>
        long.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out _)
            ? Task.CompletedTask
            : throw new HubException($"{id} is no message");

    public async Task LeaveRoom(string room)
    {
        RoomOf.TryRemove(Context.ConnectionId, out _);
        await Groups.RemoveFromGroupAsync(Context.ConnectionId, room);
        await Clients.Group(room).SendAsync("Left", Context.ConnectionId);
    }

    /// <summary>Whoever closes the page leaves the room.</summary>
    public override Task OnDisconnectedAsync(Exception? exception) =>
        RoomOf.TryRemove(Context.ConnectionId, out var room)
            ? Clients.Group(room).SendAsync("Left", Context.ConnectionId)
            : Task.CompletedTask;

    /// <summary>The author is whatever the client says: a name or a number.</summary>
    public sealed record Draft(object Author, string Text);

    public sealed record Message(string Id, object Author, string Text);

    private sealed class Room
    {
        private readonly Queue<Message> _latest = new();
        private long _count;

        public Message Add(Draft draft)
        {
            lock (_latest)
            {
                _count++;
                var message = new Message(_count.ToString(CultureInfo.InvariantCulture), draft.Author, draft.Text);
                _latest.Enqueue(message);
                if (_latest.Count > KeptMessages) _latest.Dequeue();
                return message;
            }
        }

        public Message[] Latest(int count)
        {
            lock (_latest)
            {
                return _latest.Reverse().Take(Math.Clamp(count, 0, KeptMessages)).ToArray();
            }
        }
    }
}
