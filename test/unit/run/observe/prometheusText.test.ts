import assert from 'node:assert/strict';
import { PrometheusSeries } from '../../../../src/run/observe/prometheusText';

/** As .NET 9 writes it through OpenTelemetry. */
const meters = (cpu: number, pauseS: number, queue: number): string => `
# TYPE process_cpu_time_seconds_total counter
dotnet_process_cpu_time_seconds_total{otel_scope_name="System.Runtime",cpu_mode="user"} ${cpu} 1766500000000
dotnet_process_cpu_time_seconds_total{otel_scope_name="System.Runtime",cpu_mode="system"} ${cpu / 2} 1766500000000
# TYPE dotnet_process_cpu_count gauge
dotnet_process_cpu_count 4
# TYPE dotnet_gc_pause_time_seconds_total counter
dotnet_gc_pause_time_seconds_total ${pauseS}
# TYPE dotnet_thread_pool_queue_length gauge
dotnet_thread_pool_queue_length ${queue}
# TYPE dotnet_thread_pool_thread_count gauge
dotnet_thread_pool_thread_count 8
# TYPE dotnet_process_memory_working_set_bytes gauge
dotnet_process_memory_working_set_bytes 104857600
# TYPE dotnet_gc_last_collection_heap_size_bytes gauge
dotnet_gc_last_collection_heap_size_bytes{gc_heap_generation="gen0"} 1000
dotnet_gc_last_collection_heap_size_bytes{gc_heap_generation="loh"} 2000
# TYPE signalr_server_active_connections gauge
signalr_server_active_connections{signalr_transport="web_sockets"} 30
signalr_server_active_connections{signalr_transport="long_polling"} 12
# TYPE kestrel_active_connections gauge
kestrel_active_connections 50
# TYPE http_server_request_duration_seconds histogram
http_server_request_duration_seconds_bucket{le="0.5"} 3
http_server_request_duration_seconds_sum 1
http_server_request_duration_seconds_count 3
# TYPE orders_total counter
orders_total{shop="b{,}"} ${queue * 10}
orders_total{shop="a"} 1
# TYPE cache_entries gauge
cache_entries 7
`;

describe('metrics in the text format of Prometheus', () => {
  it('of the meters of .NET are known by their names: counters by how much they rise a second', () => {
    const series = new PrometheusSeries([]);
    assert.deepEqual(series.read(meters(10, 1, 3), 0), {
      ...{ queue: 3, threads: 8, memory: 104_857_600, heap: 3000, connections: 42 },
    });
    const { cpu, gcPause, ...others } = series.read(meters(11.2, 1.1, 9), 2000);
    assert.ok(
      Math.abs(cpu! - 0.225) < 1e-9 && Math.abs(gcPause! - 0.05) < 1e-9,
      `${cpu} ${gcPause}`,
    );
    assert.deepEqual(others, {
      ...{ queue: 9, threads: 8, memory: 104_857_600, heap: 3000, connections: 42 },
    });
  });

  it('of prometheus-net are known too, and without a number of processors cores are counted', () => {
    const text = (cpu: number): string =>
      `# TYPE process_cpu_seconds_total counter\r\nprocess_cpu_seconds_total ${cpu}\r\nprocess_working_set_bytes 5e7\r\ndotnet_total_memory_bytes 1000\r\ndotnet_collection_count_total{generation="1"} 4\r\nprocess_runtime_dotnet_thread_pool_queue_length 2\r\n`;
    const series = new PrometheusSeries([]);
    series.read(text(1), 0);
    assert.deepEqual(series.read(text(2.5), 1000), {
      ...{ cpuCores: 1.5, memory: 5e7, heap: 1000, gcCollections: 0, queue: 2 },
    });
  });

  it('that are asked for by name are kept with their labels, those that rise as rates', () => {
    const series = new PrometheusSeries(['orders_*', 'cache_entries']);
    assert.equal(series.read(meters(1, 1, 1), 0)['cache_entries'], 7);
    const values = series.read(meters(1, 1, 3), 4000);
    assert.equal(values['orders_total{shop="b{,}"}/s'], 5);
    assert.equal(values['orders_total{shop="a"}/s'], 0);
    assert.ok(!Object.keys(values).some((name) => name.includes('bucket')));
  });

  it('of a server that has begun anew give no rate for that second', () => {
    const series = new PrometheusSeries([]);
    series.read(meters(10, 5, 1), 0);
    const again = series.read(meters(1, 0, 1), 1000);
    assert.equal(again['cpu'], undefined);
    assert.equal(series.read(meters(1.4, 0, 1), 2000)['cpu']?.toFixed(3), '0.150');
  });

  it('of two exporters in one server count once', () => {
    const series = new PrometheusSeries([]);
    const text = (cpu: number): string =>
      `dotnet_process_cpu_time_seconds_total ${cpu}\nprocess_cpu_seconds_total ${cpu}\n`;
    series.read(text(1), 0);
    assert.deepEqual(series.read(text(2), 1000), { cpuCores: 1 });
  });

  it('are kept up to a number, whatever the server has', () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `orders{shop="${at}"} ${at}`);
    const values = new PrometheusSeries(['*']).read(`${lines.join('\n')}\n`, 0);
    assert.equal(Object.keys(values).length, 20);
  });

  it('that are none, or no numbers, are said to be none', () => {
    const series = new PrometheusSeries(['*']);
    for (const text of ['', '<html>\n<body>', 'a NaN\nb +Inf\nc\n', '{"a":1}', '\u0000\u0001'])
      assert.throws(() => series.read(text, 0), /none of the metrics/, JSON.stringify(text));
  });
});
