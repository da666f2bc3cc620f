import { hostOf, hubUrlProblem, isLoopbackHost } from './hubUrl';
import { referencesIn } from './references';

/** Whether a text is meant as a connection string rather than as a URL. */
export const looksLikeConnectionString = (text: string): boolean =>
  /(^|;)\s*(endpoint|accesskey)\s*=/i.test(text);

/** Whether a text is one reference and nothing else, so that nobody knows what it stands for. */
export function isOneReference(text: string): boolean {
  const trimmed = text.trim();
  const [reference] = referencesIn(trimmed);
  return reference !== undefined && reference.length === trimmed.length;
}

/** Parts of a connection string by lower-case name; undefined when a part has no `=` and is no reference. */
function partsOf(text: string): Map<string, string> | undefined {
  const parts = new Map<string, string>();
  for (const part of text.split(';')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    if (equals === -1 && referencesIn(part).length > 0) continue;
    if (equals === -1) return undefined;
    parts.set(part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim());
  }
  return parts;
}

/** Host of the endpoint; undefined when it cannot be told. */
export function endpointHost(connectionString: string): string | undefined {
  const endpoint = partsOf(connectionString)?.get('endpoint');
  return endpoint === undefined ? undefined : hostOf(endpoint);
}

/** Whether the endpoint is a server on this machine, such as an emulator. */
export function isLocalEndpoint(connectionString: string): boolean {
  const host = endpointHost(connectionString);
  return host !== undefined && isLoopbackHost(host);
}

/** Whether the string is the documented placeholder (`Endpoint=https://xxx;AccessKey=xxx`). */
export function isPlaceholder(connectionString: string): boolean {
  const parts = partsOf(connectionString);
  const key = parts?.get('accesskey');
  return (key !== undefined && isPlaceholderKey(key)) || endpointHost(connectionString) === 'xxx';
}

/** `xxx`, `***`, `<your key>`, `…`: nobody's key. */
export const isPlaceholderKey = (key: string): boolean =>
  key === '' || /^(.)\1*$/.test(key) || key.startsWith('<') || /^your[-_ ]?\w*$/i.test(key);

/** What is wrong with a connection string, as a sentence that repeats none of it; undefined when nothing is. */
export function connectionStringProblem(text: string): string | undefined {
  if (isOneReference(text)) return undefined;
  const shape =
    'It looks like `Endpoint=https://<name>.service.signalr.net;AccessKey=<key>;Version=1.0;`.';
  const parts = partsOf(text);
  if (parts === undefined) return `This is no connection string. ${shape}`;
  const endpoint = parts.get('endpoint');
  // A reference may stand for several parts.
  if (endpoint === undefined && referencesIn(text).length > 0) return undefined;
  if (endpoint === undefined) return `This connection string has no Endpoint. ${shape}`;
  if (/^wss?:/i.test(endpoint))
    return 'The Endpoint of a connection string starts with http or https.';
  const problem = hubUrlProblem(endpoint);
  if (problem !== undefined) return `The Endpoint of this connection string ${problem.says}.`;
  const port = parts.get('port');
  if (
    port !== undefined &&
    !(/^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  ) {
    return 'The Port of this connection string is no number from 1 to 65,535.';
  }
  if (!parts.has('accesskey') && !parts.has('authtype') && referencesIn(text).length === 0) {
    return `This connection string has no AccessKey. ${shape}`;
  }
  return undefined;
}
