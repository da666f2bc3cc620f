using System.Collections.Concurrent;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>The connections that are there, so that a test can end them all.</summary>
public sealed class LiveConnections : IHubFilter
{
    private readonly ConcurrentDictionary<string, HubCallerContext> all = new();

    /// <summary>How often each user who is known by name has connected.</summary>
    public ConcurrentDictionary<string, int> Users { get; } = new();

    public Task OnConnectedAsync(HubLifetimeContext context, Func<HubLifetimeContext, Task> next)
    {
        all[context.Context.ConnectionId] = context.Context;
        if (context.Context.UserIdentifier is { } user) Users.AddOrUpdate(user, 1, (_, times) => times + 1);
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

    /// <summary>Ends all, and lets those who reconnect by themselves come back or not.</summary>
    public int EndAll(bool mayReturn)
    {
        var ended = 0;
        foreach (var context in all.Values)
        {
            if (mayReturn) context.Features.Get<IConnectionLifetimeNotificationFeature>()!.RequestClose();
            else context.Abort();
            ended++;
        }
        return ended;
    }
}
