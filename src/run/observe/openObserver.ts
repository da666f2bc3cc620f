/** Reads metrics of the server once a second: a bundle of its own. */
import { inBackground } from '../../base/async';
import { english, type Translate } from '../../base/text';
import { seriesName, type LateSeries, type ObservedValues } from '../../measure/observed';
import { redactText, redactUrl } from '../../results/redact';
import type { ObserveSpec, Scenario } from '../../scenario/scenario';
import { resolveText } from '../../targets/resolveEndpoint';
import type { TargetContext } from '../../targets/target';
import type { AzureResource } from './azureMonitor';
import { PrometheusSeries } from './prometheusText';
import { SocketAgents, type SocketSettings } from '../../wire/socket/socket';

export interface Observer {
  readonly values: () => ObservedValues;
  readonly problems: () => readonly string[];
  readonly late: (from: Date, to: Date) => Promise<readonly LateSeries[]>;
  close(): void;
}

export type ObserveContext = Pick<TargetContext, 'reference' | 'readFile' | 'editorAccount'>;

interface Observed {
  readonly name: string;
  readonly url: URL;
  readonly everyMs: number;
  read(signal: AbortSignal): Promise<ObservedValues>;
}

const everyMs = 1000;
const freshMs = 5000;

/** Starts at once; an endpoint that fails is one warning and is retried. @throws ExpectedError `missing-reference` */
export async function openObserver(
  scenario: Pick<Scenario, 'observe' | 'caFile' | 'insecureTls'>,
  context: ObserveContext,
  shell: { readonly warn: (text: string) => void; readonly t: Translate },
): Promise<Observer> {
  const { observe = [], caFile, insecureTls } = scenario;
  const ca = caFile === undefined ? undefined : await context.readFile(caFile);
  const way = { insecureTls, ...(ca !== undefined && { ca }) };
  const all = observe.flatMap((spec) =>
    spec.kind === 'prometheus' ? [observedOf(spec, context, way)] : [],
  );
  const hosts = all.map(({ url }) => url.host);
  /** Suffix that separates series of several endpoints. */
  const placeOf = ({ url: { host, pathname } }: Observed): string | undefined => {
    if (hosts.length === 1) return undefined;
    return hosts.filter((other) => other === host).length === 1 ? host : host + pathname;
  };
  const resources = await resourcesOf(observe, context);
  const problems: string[] = [];
  const closing = new AbortController();
  const failed = (words: (t: Translate) => string): void => {
    problems.push(words(english));
    shell.warn(words(shell.t));
  };
  const watched = all.map(
    (each) =>
      new Watched(each, closing.signal, (why) =>
        failed((t) =>
          t('{0} could not be read ({1}). The run goes on without what it says.', each.name, why),
        ),
      ),
  );
  return {
    values: () => {
      const together: Record<string, number> = {};
      for (const { observed, values } of watched)
        for (const [name, value] of Object.entries(values()))
          together[seriesName(name, placeOf(observed))] = value;
      return together;
    },
    problems: () => problems,
    late: async (from, to) => {
      const read = async (resource: AzureResource): Promise<readonly LateSeries[]> => {
        const { name } = resource;
        try {
          const series = await resource.between(from, to);
          if (series.length === 0)
            failed((t) =>
              t(
                'Azure Monitor has no values of {0} for this time yet: they come some minutes late. Look at them in the portal.',
                name,
              ),
            );
          return series;
        } catch (error) {
          failed((t) =>
            t(
              'The metrics of {0} could not be read from Azure Monitor ({1}).',
              name,
              reasonOf(error),
            ),
          );
          return [];
        }
      };
      return (await Promise.all(resources.map(read))).flat();
    },
    close: () => closing.abort(),
  };
}

async function resourcesOf(
  observe: readonly ObserveSpec[],
  context: ObserveContext,
): Promise<AzureResource[]> {
  const specs = observe.filter((spec) => spec.kind === 'azureMonitor');
  if (specs.length === 0) return [];
  const { AzureResource: Resource } = await import('./azureMonitor.js');
  return specs.map(
    (spec) => new Resource(resolveText(spec.resource, context), spec, context.editorAccount),
  );
}

function observedOf(
  spec: Extract<ObserveSpec, { readonly kind: 'prometheus' }>,
  context: ObserveContext,
  way: SocketSettings,
): Observed {
  const url = new URL(resolveText(spec.url, context));
  const authorization = spec.authorization && resolveText(spec.authorization, context);
  const headers = {
    accept: 'text/plain;version=0.0.4',
    ...(authorization !== undefined && { authorization }),
  };
  const series = new PrometheusSeries(spec.series);
  const agents = new SocketAgents(way, 1);
  return {
    ...{ name: redactUrl(url.href), url, everyMs },
    read: async (signal) => {
      const text = await readEndpoint(url, headers, agents, signal);
      return series.read(text, performance.now());
    },
  };
}

class Watched {
  private latest: { readonly values: ObservedValues; readonly atMs: number } | undefined;
  private isAsking = false;
  private isSaid = false;

  constructor(
    readonly observed: Observed,
    private readonly signal: AbortSignal,
    private readonly failed: (why: string) => void,
  ) {
    const timer = setInterval(() => inBackground(this.ask()), observed.everyMs);
    timer.unref();
    signal.addEventListener('abort', () => clearInterval(timer));
    inBackground(this.ask());
  }

  readonly values = (): ObservedValues => {
    const { latest, observed } = this;
    const isFresh = latest && performance.now() - latest.atMs < freshMs + observed.everyMs;
    return isFresh ? latest.values : {};
  };

  private async ask(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const values = await this.observed.read(this.signal);
      this.latest = { values, atMs: performance.now() };
    } catch (error) {
      if (!this.isSaid && !this.signal.aborted) this.failed(reasonOf(error));
      this.isSaid ||= !this.signal.aborted;
    } finally {
      this.isAsking = false;
    }
  }
}

/** Errors of several addresses have an empty message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code } = error as NodeJS.ErrnoException;
  return error.message === ''
    ? (code ?? 'no answer')
    : redactText(error.message.split('\n')[0]!.slice(0, 200));
}

export const mostBytes = 8 * 1024 * 1024;
const mostMs = 3000;

/** No redirects: they would get the token. @throws Error without the URL */
async function readEndpoint(
  url: URL,
  headers: Readonly<Record<string, string>>,
  agents: SocketAgents,
  signal: AbortSignal,
): Promise<string> {
  const tooLong = (): Error => new Error('its answer has more than 8 MB');
  const bounds = { signal, timeoutMs: mostMs, maximumBytes: mostBytes, tooLong };
  const { response, body } = await agents.exchange(url, { method: 'GET', headers, ...bounds });
  const { statusCode = 0 } = response;
  if (statusCode !== 200) throw new Error(`it answers with status ${statusCode}`);
  return body.toString('utf8');
}
