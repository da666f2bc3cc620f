import type { Service } from '../../usecases/traffic';
import { hostOf } from './hubUrl';

/**
 * The service a host belongs to, in any cloud of Azure; undefined for a gateway, a domain of somebody's own
 * or an emulator. Source: "Private link: private DNS zone values".
 */
export function serviceOfHost(host: string): Exclude<Service, 'hub'> | undefined {
  if (/\.(service\.signalr\.net|signalr\.azure\.(us|cn))$/i.test(host)) return 'signalr';
  return /\.webpubsub\.azure\.(com|us|cn)$/i.test(host) ? 'webpubsub' : undefined;
}

const examples = {
  signalr:
    'Azure SignalR Service, not a hub: write its connection string instead, best as a reference such as ${env:AZURE_SIGNALR}.',
  webpubsub:
    'Azure Web PubSub, not a hub: write its connection string instead, best as a reference such as ${env:AZURE_WEBPUBSUB}.',
} as const;

/** Says what to write in place of the bare endpoint of a service, which answers no client. */
export function serviceEndpointProblem(url: string): string | undefined {
  if (!/^[a-z]+:\/\/[^/?#]+\/?$/i.test(url)) return undefined;
  const service = serviceOfHost(hostOf(url) ?? '');
  return service && `This is the endpoint of ${examples[service]}`;
}
