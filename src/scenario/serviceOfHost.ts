import type { Service } from '../usecases/traffic';

/**
 * The service a host belongs to, in any cloud of Azure; undefined for a gateway, a domain of somebody's own
 * or an emulator. Source: "Private link: private DNS zone values".
 */
export function serviceOfHost(host: string): Exclude<Service, 'hub'> | undefined {
  if (/\.(service\.signalr\.net|signalr\.azure\.(us|cn))$/i.test(host)) return 'signalr';
  return /\.webpubsub\.azure\.(com|us|cn)$/i.test(host) ? 'webpubsub' : undefined;
}
