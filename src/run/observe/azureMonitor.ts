/** Azure Monitor: the only file with its package, a bundle of its own. */
import { MetricsClient, type MetricsClientOptions } from '@azure/monitor-query-metrics';
import { rateMark, seriesName, type LateSeries } from '../../measure/observed';
import type { ObserveSpec } from '../../scenario/scenario';
import type { EditorAccount } from '../../targets/target';

type Resource = Extract<ObserveSpec, { readonly kind: 'azureMonitor' }>;

/** Source: "Supported metrics for Microsoft.SignalRService/SignalR" and "…/WebPubSub" in the reference of Azure Monitor. */
interface Known {
  readonly metric: string;
  readonly name: string;
  readonly of: 'maximum' | 'total';
  readonly factor: number;
}

const perSecond = (metric: string, name: string): Known => ({
  ...{ metric, name, of: 'total', factor: 1 / 60 },
});
const common: readonly Known[] = [
  { metric: 'ServerLoad', name: 'serverLoad', of: 'maximum', factor: 0.01 },
  perSecond('InboundTraffic', 'trafficIn'),
  perSecond('OutboundTraffic', 'trafficOut'),
];
const known: Readonly<Record<'signalr' | 'webpubsub', readonly Known[]>> = {
  signalr: [
    ...common,
    { metric: 'ConnectionCount', name: 'connections', of: 'maximum', factor: 1 },
    perSecond('MessageCount', `MessageCount${rateMark}`),
  ],
  webpubsub: [
    ...common,
    { metric: 'TotalConnectionCount', name: 'connections', of: 'maximum', factor: 1 },
  ],
};

const mostPoints = 1440;
const mostMs = 15_000;

interface AzureParts {
  readonly options?: MetricsClientOptions;
  readonly token?: (scope: string) => Promise<{ token: string; expiresAtMs: number }>;
}

/** Read after the run: its minutes come late. */
export class AzureResource {
  readonly name: string;
  private readonly product: 'signalr' | 'webpubsub';
  private readonly client: MetricsClient;

  constructor(
    private readonly resource: string,
    { region }: Pick<Resource, 'region'>,
    account: EditorAccount | undefined,
    { options, token }: AzureParts = {},
  ) {
    this.name = resource.split('/').at(-1)!;
    this.product = /\/WebPubSub\//i.test(resource) ? 'webpubsub' : 'signalr';
    const ask = token ?? ((scope: string) => signedIn(scope, account));
    const credential = {
      getToken: async (scopes: string | string[]) => {
        const found = await ask([scopes].flat()[0]!);
        return { token: found.token, expiresOnTimestamp: found.expiresAtMs };
      },
    };
    this.client = new MetricsClient(`https://${region}.metrics.monitor.azure.com`, credential, {
      retryOptions: { maxRetries: 0 },
      ...options,
    });
  }

  async between(from: Date, to: Date): Promise<LateSeries[]> {
    const wanted = known[this.product];
    const found = await this.client.queryResources(
      [this.resource],
      wanted.map(({ metric }) => metric),
      `microsoft.signalrservice/${this.product}`,
      {
        ...{ startTime: from, endTime: to, interval: 'PT1M', aggregation: 'maximum,total' },
        abortSignal: AbortSignal.timeout(mostMs),
      } as Parameters<MetricsClient['queryResources']>[3],
    );
    const metrics = found[0]?.metrics ?? [];
    return wanted.flatMap(({ metric, name, of, factor }): LateSeries[] => {
      const data = metrics.find((each) => each.name === metric)?.timeseries[0]?.data ?? [];
      const points = data.slice(-mostPoints).flatMap((point): [number, number][] => {
        const value = point[of];
        const atMs = new Date(point.timeStamp).getTime();
        return value === undefined || Number.isNaN(atMs) ? [] : [[atMs, value * factor]];
      });
      return points.length === 0 ? [] : [{ name: seriesName(name, this.name), points }];
    });
  }
}

/** By the editor's account, or the default sign-in. */
async function signedIn(scope: string, account: EditorAccount | undefined) {
  const given = await account?.(scope, undefined, false);
  if (given !== undefined) return given;
  const { credentialToken } = await import('../../targets/entra/credential.js');
  return credentialToken({ kind: 'default' }, undefined, scope);
}
