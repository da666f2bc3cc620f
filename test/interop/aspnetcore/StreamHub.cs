using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>Streams of a hub that knows nothing of a benchmark.</summary>
public sealed class StreamHub : Hub
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

    public sealed record Reading(int Number, string Text);
}
