/** What stands behind `target` and `connectionString`, and which parts of them are secret. */
import { hostOf, hubUrlProblem } from './hubUrl';
import { trimEndCharacters } from '../../base/text';
import { isThisMachine } from '../../base/endpoint';
import { referencesIn } from './references';

export type TargetSpec =
  | { readonly kind: 'local' }
  | { readonly kind: 'hubUrl'; readonly urls: readonly string[] }
  /** May be a reference. */
  | { readonly kind: 'connectionString'; readonly value: string };

/** Decides what a run has to ask, and may take for granted. */
type TargetRole =
  /** Started for the run: nobody is asked, and nothing leaves this machine. */
  | 'ownServer'
  | 'userHub'
  /** Of Azure or an emulator; a run brings tokens and, in default mode, app servers. */
  | 'service';

const behind = new Map<string | undefined, TargetRole>([
  ['local', 'ownServer'],
  ['hubUrl', 'userHub'],
  ['connectionString', 'service'],
]);

export const targetRole = (target: { readonly kind: string } | undefined): TargetRole | undefined =>
  behind.get(target?.kind);

export interface TargetWishes {
  /** A reference alone stands for a connection string. */
  readonly preferConnectionString: boolean;
}

/** Undefined where the text may be a hub URL. */
export function parseTarget(
  text: string,
  { preferConnectionString }: TargetWishes,
): TargetSpec | undefined {
  if (text.toLowerCase() === 'local') return { kind: 'local' };
  const isReference = isSingleReference(text) && (preferConnectionString || /conn/i.test(text));
  return isReference || looksLikeConnectionString(text)
    ? { kind: 'connectionString', value: text }
    : undefined;
}

export const targetPatterns = [
  '^(?:[lL][oO][cC][aA][lL])$',
  '(^|;)\\s*[eE][nN][dD][pP][oO][iI][nN][tT]\\s*=',
];

export const urlsOf = (target: TargetSpec | undefined): readonly string[] =>
  target?.kind === 'hubUrl' ? target.urls : [];

export const connectionStringOf = (target: TargetSpec | undefined): string | undefined =>
  target?.kind === 'connectionString' ? target.value : undefined;

export function hostsOf(target: TargetSpec | undefined): string[] {
  const text = connectionStringOf(target);
  const hosts = [...urlsOf(target).map(hostOf), text && endpointHost(text)];
  return hosts.filter((host) => host !== undefined);
}

export function addressCount(target: TargetSpec | undefined): number {
  const urls = urlsOf(target).flatMap((url) => url.split(',').map((one) => one.trim()));
  const addresses = urls.map((url) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url);
  return Math.max(1, new Set(addresses).size);
}

export function mapTargetTexts(target: TargetSpec, change: (text: string) => string): TargetSpec {
  if (target.kind === 'hubUrl') return { ...target, urls: target.urls.map(change) };
  return target.kind === 'local' ? target : { ...target, value: change(target.value) };
}

/** For people; secrets are still in it. */
export const formatTarget = (target: TargetSpec | undefined): string =>
  connectionStringOf(target) ?? (urlsOf(target).join(', ') || (target?.kind ?? 'local'));

export const looksLikeConnectionString = (text: string): boolean =>
  /(^|;)\s*(endpoint|accesskey)\s*=/i.test(text);

export function isSingleReference(text: string): boolean {
  const trimmed = text.trim();
  const [reference] = referencesIn(trimmed);
  return reference !== undefined && reference.length === trimmed.length;
}

const signIns: Readonly<Record<string, EntraSignIn['kind']>> = {
  azure: 'default',
  'azure.msi': 'managedIdentity',
  'azure.app': 'application',
};

/**
 * Sources: "Connection strings in Azure SignalR Service", heading "Use Microsoft Entra ID";
 * Azure/azure-signalr, `ConnectionStringParser`.
 */
function signInKind(values: Parts['values']): EntraSignIn['kind'] | undefined {
  const authType = values.get('authtype')?.toLowerCase() ?? '';
  if (authType !== 'aad') return signIns[authType];
  if (!values.has('clientid')) return 'default';
  return values.has('tenantid') ? 'application' : 'managedIdentity';
}

/** Documented, and read by the official library. */
const certificateNames = ['clientcertpath', 'clientcert'];

export interface EntraSignIn {
  readonly kind: 'default' | 'managedIdentity' | 'application';
  readonly clientId?: string;
  readonly tenantId?: string;
  readonly clientSecret?: string;
  readonly clientCertificateFile?: string;
}

export interface ServiceConnection {
  /** `http(s)://host[:port]`. */
  readonly endpoint: string;
  /** Without a port: what access tokens are made out to. */
  readonly audience: string;
  /** May be a gateway with a path; no slash at its end. */
  readonly clientEndpoint: string;
  /** For app servers and REST calls. */
  readonly serverEndpoint: string;
  readonly accessKey?: string;
  readonly signIn?: EntraSignIn;
}

interface Parts {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated?: string;
}

/** May be empty, as in `ClientSecret=$UNSET`. */
const optionalNames = [
  ...['Endpoint', 'ClientEndpoint', 'ServerEndpoint'],
  ...['ClientId', 'TenantId', 'ClientSecret', 'ClientCert', 'ClientCertPath'],
];
const optionalParts = new Set(optionalNames.map((name) => name.toLowerCase()));

function partsOf(text: string): Parts | undefined {
  const values = new Map<string, string>();
  let repeated: string | undefined;
  for (const part of text.split(';')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    if (equals === -1 && referencesIn(part).length > 0) continue;
    if (equals === -1) return undefined;
    const name = part.slice(0, equals).trim().toLowerCase();
    if (values.has(name)) repeated ??= name;
    const value = part.slice(equals + 1).trim();
    if (value !== '' || !optionalParts.has(name)) values.set(name, value);
  }
  return { values, repeated };
}

export function endpointHost(connectionString: string): string | undefined {
  const endpoint = partsOf(connectionString)?.values.get('endpoint');
  return endpoint === undefined ? undefined : hostOf(endpoint);
}

/** Such as an emulator, however clients and app servers reach it. */
export function isLocalEndpoint(connectionString: string): boolean {
  const values = partsOf(connectionString)?.values;
  const endpoint = values?.get('endpoint');
  return ['clientendpoint', 'serverendpoint'].every((name) => {
    const host = hostOf(values?.get(name) ?? endpoint ?? '');
    return host !== undefined && isThisMachine(host);
  });
}

export function isPlaceholder(connectionString: string): boolean {
  const parts = partsOf(connectionString)?.values;
  const key = parts?.get('accesskey');
  return (key !== undefined && isPlaceholderKey(key)) || endpointHost(connectionString) === 'xxx';
}

/** `xxx`, `***`, `<your key>`, `…`: nobody's key. */
export const isPlaceholderKey = (key: string): boolean =>
  key === '' || /^(.)\1*$/.test(key) || key.startsWith('<') || /^your[-_ ]?\w*$/i.test(key);

const shape =
  'It looks like `Endpoint=https://<name>.service.signalr.net;AccessKey=<key>;Version=1.0;`.';

const shownNames = [...optionalNames, 'Port', 'AccessKey', 'Version', 'AuthType'];

/** Repeats none of the text. Rules: protocols of Azure/azure-signalr, `ConnectionStringParser`. */
export function connectionStringProblem(text: string): string | undefined {
  if (isSingleReference(text)) return undefined;
  const parts = partsOf(text);
  if (parts === undefined) return `This is not a connection string. ${shape}`;
  const { values, repeated } = parts;
  if (repeated !== undefined) {
    const shown = shownNames.find((name) => name.toLowerCase() === repeated) ?? 'A part';
    return `${shown} stands twice in this connection string.`;
  }
  const withReferences = referencesIn(text).length > 0;
  const endpoint = values.get('endpoint');
  // A reference may stand for several parts.
  if (endpoint === undefined && withReferences) return undefined;
  if (endpoint === undefined) return `This connection string has no Endpoint. ${shape}`;
  return (
    endpointProblem(values) ??
    portOrVersionProblem(values) ??
    (withReferences ? undefined : signInProblem(values))
  );
}

function endpointProblem(values: Parts['values']): string | undefined {
  for (const name of ['Endpoint', 'ClientEndpoint', 'ServerEndpoint']) {
    const url = values.get(name.toLowerCase());
    if (url === undefined) continue;
    if (/^wss?:/i.test(url)) return `The ${name} of a connection string starts with http or https.`;
    const problem = hubUrlProblem(url);
    if (problem !== undefined) return `The ${name} of this connection string ${problem.says}.`;
    if (/[?#]/.test(url)) return `The ${name} of this connection string ends with its path.`;
    if (name === 'Endpoint' && /^[a-z]+:\/\/[^/]*\/+[^/]/i.test(url))
      return 'The Endpoint of this connection string has a path, which a service has not. Name a gateway below a path in ClientEndpoint and ServerEndpoint.';
  }
  return undefined;
}

function portOrVersionProblem(values: Parts['values']): string | undefined {
  const [port, version] = ['port', 'version'].map((name) => {
    const value = values.get(name);
    return value === undefined || referencesIn(value).length > 0 ? undefined : value;
  });
  const isPort = (text: string): boolean =>
    /^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
  if (port !== undefined && !isPort(port))
    return 'The Port of this connection string is not a number from 1 to 65,535.';
  return version === undefined || /^1\.[0-9]+$/.test(version)
    ? undefined
    : 'The Version of this connection string is not 1.0, the only one this version knows.';
}

/** An unknown AuthType means the access key, as in the official libraries. */
function signInProblem(values: Parts['values']): string | undefined {
  const signIn = signInKind(values);
  if (signIn === undefined) {
    if ((values.get('accesskey') ?? '') !== '') return undefined;
    const authType = values.get('authtype');
    if (authType === undefined) return `This connection string has no AccessKey. ${shape}`;
    // Anything else may be a key in the wrong place.
    const shown = /^[a-z.]{1,16}$/i.test(authType) ? ` ${authType}` : '';
    return `The AuthType${shown} of this connection string is not known, and there is no AccessKey. Known are ${[...Object.keys(signIns), 'aad'].join(', ')}.`;
  }
  if (signIn !== 'application') return undefined;
  const missing = ['ClientId', 'TenantId'].find((name) => !values.has(name.toLowerCase()));
  if (missing !== undefined) return `This AuthType needs ${missing} in the connection string.`;
  return ['clientsecret', ...certificateNames].some((name) => values.has(name))
    ? undefined
    : 'This AuthType needs ClientSecret or ClientCertPath in the connection string.';
}

/** Only where {@link connectionStringProblem} finds nothing, and without references. */
export function readConnectionString(text: string): ServiceConnection {
  const values = partsOf(text)?.values ?? new Map<string, string>();
  const [, scheme = 'https', authority = ''] =
    /^([a-z]+):\/\/([^/?#]*)/i.exec(values.get('endpoint') ?? '') ?? [];
  const host = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:[0-9]+$/, '')
    .toLowerCase();
  const audience = `${scheme.toLowerCase()}://${host}`;
  const port = values.get('port') ?? /:([0-9]+)$/.exec(authority)?.[1];
  const endpoint = port === undefined ? audience : `${audience}:${port}`;
  const origin = (name: string): string => trimEndCharacters(values.get(name) ?? endpoint, '/');
  const kind = signInKind(values);
  return {
    endpoint,
    audience,
    clientEndpoint: origin('clientendpoint'),
    serverEndpoint: origin('serverendpoint'),
    ...(kind === undefined
      ? { accessKey: values.get('accesskey') ?? '' }
      : { signIn: signInOf(kind, values) }),
  };
}

function signInOf(kind: EntraSignIn['kind'], values: Parts['values']): EntraSignIn {
  const names = ['clientid', 'tenantid', 'clientsecret'];
  const [clientId, tenantId, clientSecret] = names.map((name) => values.get(name));
  const [clientCertificateFile] = certificateNames.flatMap((name) => values.get(name) ?? []);
  return { kind, clientId, tenantId, clientSecret, clientCertificateFile };
}
