using System.Collections.Concurrent;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>The connections that are there, so that a test can end them all.</summary>
public sealed class LiveConnections
{
    private readonly ConcurrentDictionary<string, HubCallerContext> all = new();

    public void Add(HubCallerContext context) => all[context.ConnectionId] = context;

    public void Remove(HubCallerContext context) => all.TryRemove(context.ConnectionId, out _);

    public int AbortAll()
    {
        var aborted = 0;
        foreach (var context in all.Values)
        {
            context.Abort();
            aborted++;
        }
        return aborted;
    }
}
