/** Reads Prometheus text: the only file with its parser. */
import parsePrometheusTextFormat from 'parse-prometheus-text-format';
import { rateMark, type ObservedKind, type ObservedValues } from '../../measure/observed';

/** The first pattern of a kind that is present counts, so that nothing counts twice. */
interface Known {
  readonly kind: ObservedKind | 'processors' | 'cpuSeconds';
  readonly pattern: RegExp;
  readonly rises?: true;
  readonly factor?: number;
  readonly largest?: true;
}

/**
 * Names that .NET exporters write: meters (".NET runtime metrics", "ASP.NET Core metrics") by OpenTelemetry or prometheus-net,
 * process metrics of both, and event counters of prometheus-net.
 */
const known: readonly Known[] = [
  { kind: 'cpuSeconds', pattern: /(?:^|_)process_cpu_time(?:_seconds)?(?:_total)?$/, rises: true },
  { kind: 'cpuSeconds', pattern: /^process_cpu_seconds_total$/, rises: true },
  { kind: 'processors', pattern: /(?:^|_)process_cpu_count(?:_\w+)?$/, largest: true },
  { kind: 'cpu', pattern: /^system_runtime_cpu_usage$/, factor: 0.01, largest: true },
  { kind: 'gcPause', pattern: /(?:^|_)gc_pause_time(?:_seconds)?(?:_total)?$/, rises: true },
  {
    ...{ kind: 'gcPause', pattern: /^process_runtime_dotnet_gc_duration_nanoseconds_total$/ },
    ...{ rises: true, factor: 1e-9 },
  },
  { kind: 'gcCollections', pattern: /(?:^|_)gc_collections(?:_count)?(?:_total)?$/, rises: true },
  { kind: 'gcCollections', pattern: /^dotnet_collection_count_total$/, rises: true },
  { kind: 'memory', pattern: /(?:^|_)process_memory_working_set(?:_bytes)?$/ },
  { kind: 'memory', pattern: /^process_working_set_bytes$/ },
  { kind: 'memory', pattern: /^process_(?:memory_usage|resident_memory)(?:_bytes)?$/ },
  { kind: 'heap', pattern: /(?:^|_)gc_last_collection_heap_size(?:_bytes)?$/ },
  {
    kind: 'heap',
    pattern: /^(?:process_runtime_dotnet_gc_heap_size_bytes|dotnet_total_memory_bytes)$/,
  },
  { kind: 'queue', pattern: /(?:^|_)thread_?pool_queue_length(?:_work_items?)?$/ },
  { kind: 'threads', pattern: /(?:^|_)thread_?pool_threads?_count(?:_threads?)?$/ },
  { kind: 'connections', pattern: /(?:^|_)signalr_server_active_connections(?:_connections?)?$/ },
  { kind: 'connections', pattern: /(?:^|_)http_connections_current_connections$/ },
  { kind: 'connections', pattern: /(?:^|_)kestrel_active_connections(?:_connections?)?$/ },
];

const mostOwn = 20;

interface Sums {
  readonly atMs: number;
  readonly known: ReadonlyMap<Known, number>;
  readonly own: ReadonlyMap<string, { readonly value: number; readonly rises: boolean }>;
}

/** Reads an endpoint repeatedly; counters become rates from the second text on. */
export class PrometheusSeries {
  private readonly patterns: readonly RegExp[];
  private before: Sums | undefined;

  /** @param patterns of more series, with `*` */
  constructor(patterns: readonly string[]) {
    this.patterns = patterns.map(
      (pattern) => new RegExp(`^${pattern.replace(/\*+/g, '[A-Za-z0-9_:]*')}$`),
    );
  }

  /** @throws without any known metric, such as for an HTML page */
  read(text: string, atMs: number): ObservedValues {
    const now = this.sumsOf(text, atMs);
    if (now.known.size + now.own.size === 0)
      throw new Error('its answer has none of the metrics that are known or named by series');
    const { before } = this;
    this.before = now;
    const seconds = before === undefined ? 0 : (now.atMs - before.atMs) / 1000;
    /** Undefined at first, and after a restart of the server. */
    const rate = (value: number, earlier: number | undefined): number | undefined =>
      earlier === undefined || seconds <= 0 || value < earlier
        ? undefined
        : (value - earlier) / seconds;
    const values: Record<string, number> = {};
    const found = new Map<Known['kind'], number>();
    for (const [of, value] of now.known) {
      const { kind, rises, factor = 1 } = of;
      const shown = rises ? rate(value, before?.known.get(of)) : value;
      if (shown !== undefined) found.set(kind, shown * factor);
    }
    for (const [kind, value] of found)
      if (kind !== 'cpuSeconds' && kind !== 'processors') values[kind] = value;
    const cores = found.get('cpuSeconds');
    const processors = found.get('processors') ?? 0;
    if (cores !== undefined && processors > 0) values['cpu'] = cores / processors;
    else if (cores !== undefined) values['cpuCores'] = cores;
    for (const [name, { value, rises }] of now.own) {
      const shown = rises ? rate(value, before?.own.get(name)?.value) : value;
      if (shown !== undefined) values[rises ? name + rateMark : name] = shown;
    }
    return values;
  }

  private sumsOf(text: string, atMs: number): Sums {
    const sums = new Map<Known, number>();
    const own = new Map<string, { value: number; rises: boolean }>();
    for (const { name, type, metrics } of parsePrometheusTextFormat(this.wanted(text))) {
      const rises = type === 'COUNTER' || /_total$/.test(name);
      const of = known.find(({ pattern }) => pattern.test(name));
      const isOwn = this.patterns.some((pattern) => pattern.test(name));
      for (const { value: written, labels = {} } of metrics) {
        const value = Number(written);
        if (written === undefined || written === '' || !Number.isFinite(value)) continue;
        if (of) {
          const sum = sums.get(of);
          sums.set(of, sum === undefined ? value : of.largest ? Math.max(sum, value) : sum + value);
        }
        if (isOwn && own.size < mostOwn) own.set(labelled(name, labels), { value, rises });
      }
    }
    const first = new Map<Known['kind'], Known>();
    for (const each of known)
      if (sums.has(each) && !first.has(each.kind)) first.set(each.kind, each);
    const counted = [...sums].filter(([each]) => first.get(each.kind) === each);
    return { atMs, known: new Map(counted), own };
  }

  /** Lines that matter: thousands of series cost no more than ten. */
  private wanted(text: string): string {
    const lines: string[] = [];
    let last = '';
    let isWanted = false;
    for (const line of text.split('\n')) {
      const [, name] = /^(?:# TYPE )?([A-Za-z_:][A-Za-z0-9_:]*)(?=[\s{]|$)/.exec(line) ?? [];
      if (name === undefined) continue;
      if (name !== last) {
        last = name;
        isWanted =
          known.some(({ pattern }) => pattern.test(name)) ||
          this.patterns.some((pattern) => pattern.test(name));
      }
      if (isWanted) lines.push(line.trimEnd());
    }
    return `${lines.join('\n')}\n`;
  }
}

/** `orders{shop="1"}`, its labels in the order of their names. */
function labelled(name: string, labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}="${value}"`);
  return parts.length === 0 ? name : `${name}{${parts.join(',')}}`;
}
