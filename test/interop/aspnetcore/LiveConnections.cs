using System.Collections.Concurrent;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>The connections that are there, so that a test can end them all.</summary>
public sealed class LiveConnections : IHubFilter
{
    private readonly ConcurrentDictionary<string, HubCallerContext> all = new();

    public Task OnConnectedAsync(HubLifetimeContext context, Func<HubLifetimeContext, Task> next)
    {
        all[context.Context.ConnectionId] = context.Context;
        return next(context);
    }

    public Task OnDisconnectedAsync(
        HubLifetimeContext context,
        Exception? exception,
        Func<HubLifetimeContext, Exception?, Task> next)
    {
        all.TryRemove(context.Context.ConnectionId, out _);
        return next(context, exception);
    }

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
