import { findServiceByHost, services } from '../../base/serviceTraits';
import { referencePattern } from './references';

export const hubUrlPattern = `(?:(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?)://[^\\s,/?#]+[^\\s,]*|${referencePattern}[^\\s,]*)`;

interface UrlProblem {
  readonly says: string;
  readonly meant?: string;
}

/** In place of a reference: nobody writes it, and a host may have it. */
const anything = '\ue000';

/** In lower case, without port; undefined when a reference stands for it. */
export function hostOf(url: string): string | undefined {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (authority === undefined || authority.includes('${')) return undefined;
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:[0-9]*$/, '');
  return host === '' ? undefined : host.toLowerCase();
}

/** The last part of the path; none where a reference stands for it. */
export function classicHubOf(url: string): readonly string[] {
  const [path = ''] = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split(/[?#]/);
  const name = path.slice(path.lastIndexOf('/') + 1);
  return path.includes('${') || (path === url && url.includes('${')) ? [] : [name];
}

export const classicHubNeeded =
  'ASP.NET SignalR needs the name of the hub behind the URL of the server: write http://localhost:5050/signalrbench for the hub signalrbench.';

export const classicHubsDiffer = (names: readonly string[]): string =>
  `All URLs of a run against ASP.NET SignalR name the same hub, but these name ${[...new Set(names)].join(' and ')}: measure them in runs of their own.`;

/** References count as good text. Pure folders have no `URL`. */
export function hubUrlProblem(url: string): UrlProblem | undefined {
  const reference = new RegExp(referencePattern, 'g');
  const plain = url.replace(reference, anything);
  const schemeless = url.replace(reference, '').trim() === '' || /^\$\{/.test(url);
  if (schemeless) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(plain)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const misspelt = /^(https?|wss?)(?:[:;][/\\]{0,3}(?![0-9]+(?:\/|$))|[/\\]{2,3})([^/\\\s].*)$/i;
    const [, begun, rest] = misspelt.exec(url) ?? [];
    if (begun !== undefined)
      return {
        says: `begins with ${begun}, but not with ${begun}://`,
        meant: `${begun}://${rest!}`,
      };
    if (/^embedded$/i.test(plain)) return { says: 'is not a URL', meant: 'local' };
    const host = /^[a-z0-9.-]+(:[0-9]+)?(\/\S*)?$/i.test(plain.replaceAll(anything, '0'));
    return host
      ? { says: 'has no scheme', meant: `http://${url}` }
      : { says: 'is not a URL; write one such as http://localhost:5050/signalrbench' };
  }
  if (!['http', 'https', 'ws', 'wss'].includes(scheme))
    return {
      says: `starts with ${scheme.slice(0, 20)}:; hubs are reached by http, https, ws or wss`,
    };
  if (/\s/.test(plain)) return { says: 'has a space in it' };
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(plain)![1]!;
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(.*))?$/i.exec(hostAndPort) ?? [];
  if (host === undefined) return { says: 'has no valid host' };
  if (host === '') return { says: 'has no host' };
  if (!/^(\[.*\]|[a-z0-9._~\u0080-\uffff-]+)$/i.test(host)) return { says: 'has no valid host' };
  if (!isAddressOrName(host)) return { says: 'has no valid host' };
  const number = Number(port ?? 80);
  if (
    port !== undefined &&
    !port.includes(anything) &&
    !(/^[0-9]+$/.test(port) && number >= 1 && number <= 65_535)
  ) {
    return { says: 'has no valid port; ports are 1 to 65,535' };
  }
  return undefined;
}

/** Source: "URL Standard", heading "Host parsing": a host that ends in a number is an IPv4 address or none. */
function isAddressOrName(host: string): boolean {
  if (host.startsWith('[')) return /^\[(?=.*:)[0-9a-f:.]*\]$/i.test(host);
  const labels = host.replace(/\.$/, '').split('.');
  if (!/^([0-9]+|0x[0-9a-f]*)$/i.test(labels.at(-1)!)) return true;
  const numbers = labels.map((label) => numberOf(label));
  const last = numbers.pop()!;
  if (numbers.length > 3 || numbers.some((number) => !(number <= 255))) return false;
  return last < 256 ** (4 - numbers.length);
}

/** Octal after 0, hexadecimal after 0x; NaN when it is none. */
function numberOf(label: string): number {
  if (/^0x[0-9a-f]*$/i.test(label)) return label.length === 2 ? 0 : parseInt(label, 16);
  if (/^0[0-7]*$/.test(label)) return parseInt(label, 8);
  return /^[1-9][0-9]*$/.test(label) ? Number(label) : NaN;
}

export function serviceEndpointProblem(url: string): string | undefined {
  if (!/^[a-z]+:\/\/[^/?#]+\/?$/i.test(url)) return undefined;
  const service = findServiceByHost(hostOf(url) ?? '');
  if (service === undefined) return undefined;
  const { name, variable } = services[service];
  return `This is the endpoint of ${name}, not a hub: write its connection string instead, best as a reference such as \${env:${variable}}.`;
}
