using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Globalization;
using System.Text;

namespace BenchServer;

/// <summary>
/// Metrics of this process in the text format of Prometheus, as OpenTelemetry writes the meters of .NET 9
/// ("System.Runtime") and of ASP.NET Core: written by hand, so that no package is needed.
/// </summary>
public static class ServerMetrics
{
    /// <summary>Of ASP.NET Core's own meter, so that what counts connections of SignalR is its counter.</summary>
    private const string ConnectionsMeter = "Microsoft.AspNetCore.Http.Connections";
    private const string ConnectionsInstrument = "signalr.server.active_connections";
    private static long connections;

    /// <summary>Begins to count; what has connected before is not known.</summary>
    public static MeterListener Listen()
    {
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, own) =>
            {
                if (instrument.Meter.Name == ConnectionsMeter && instrument.Name == ConnectionsInstrument)
                {
                    own.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((_, by, _, _) => Interlocked.Add(ref connections, by));
        listener.Start();
        return listener;
    }

    public static string Text()
    {
        using var process = Process.GetCurrentProcess();
        var text = new StringBuilder();

        void Add(string name, string type, double value, string labels = "")
        {
            if (labels == "" || !text.ToString().Contains($"# TYPE {name} "))
            {
                text.Append($"# TYPE {name} {type}\n");
            }
            text.Append(CultureInfo.InvariantCulture, $"{name}{labels} {value}\n");
        }

        const string cpu = "dotnet_process_cpu_time_seconds_total";
        Add(cpu, "counter", process.UserProcessorTime.TotalSeconds, "{cpu_mode=\"user\"}");
        Add(cpu, "counter", process.PrivilegedProcessorTime.TotalSeconds, "{cpu_mode=\"system\"}");
        Add("dotnet_process_cpu_count", "gauge", Environment.ProcessorCount);
        Add("dotnet_process_memory_working_set_bytes", "gauge", process.WorkingSet64);
        Add("dotnet_gc_pause_time_seconds_total", "counter", GC.GetTotalPauseDuration().TotalSeconds);
        for (var generation = 0; generation <= 2; generation++)
        {
            var labels = $"{{gc_heap_generation=\"gen{generation}\"}}";
            Add("dotnet_gc_collections_total", "counter", GC.CollectionCount(generation), labels);
        }
        Add("dotnet_gc_last_collection_heap_size_bytes", "gauge", GC.GetTotalMemory(false));
        Add("dotnet_thread_pool_queue_length", "gauge", ThreadPool.PendingWorkItemCount);
        Add("dotnet_thread_pool_thread_count", "gauge", ThreadPool.ThreadCount);
        Add("signalr_server_active_connections", "gauge", Interlocked.Read(ref connections));
        return text.ToString();
    }
}
