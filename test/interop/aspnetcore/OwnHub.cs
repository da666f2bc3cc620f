using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>A hub that knows nothing of a benchmark: streams, and a slow method.</summary>
public sealed class OwnHub : Hub
{
    public async IAsyncEnumerable<int> Counter(
        int count,
        int delay,
        [EnumeratorCancellation] CancellationToken cancelled)
    {
        for (var number = 0; number < count; number++)
        {
            yield return number;
            await Task.Delay(delay, cancelled);
        }
    }

    /// <summary>How many streams of <see cref="Lasting"/> a client has cancelled, its connection still being open.</summary>
    public static int Cancelled => cancelledStreams;

    private static int cancelledStreams;

    /// <summary>One item, and no end of its own.</summary>
    public async IAsyncEnumerable<int> Lasting([EnumeratorCancellation] CancellationToken cancelled)
    {
        yield return 0;
        var aborted = Context.ConnectionAborted;
        await using var counting = cancelled.Register(() =>
        {
            if (!aborted.IsCancellationRequested) Interlocked.Increment(ref cancelledStreams);
        });
        await Task.Delay(Timeout.Infinite, cancelled);
    }

    public async IAsyncEnumerable<string> Shout(IAsyncEnumerable<string> words, string mark)
    {
        await foreach (var word in words) yield return word.ToUpperInvariant() + mark;
    }

    public async Task Upload(IAsyncEnumerable<Reading> readings)
    {
        await foreach (var reading in readings)
            if (reading.Text.Length != 40) throw new HubException($"{reading.Number}: {reading.Text.Length} letters");
    }

    public async IAsyncEnumerable<int> Broken(int after)
    {
        for (var number = 0; number < after; number++) yield return number;
        await Task.Yield();
        throw new HubException("the machine is out of order");
    }

    public async Task<int> Slow(int ms)
    {
        await Task.Delay(ms);
        return ms;
    }

    /// <summary>Ends the connection that calls it.</summary>
    public void Leave() => Context.Abort();

    /// <summary>Keeps a thread of the pool from all else, as code does that waits for an answer without `await`.</summary>
    public void Block(int ms) => Thread.Sleep(ms);

    public sealed record Reading(int Number, string Text);
}
