import { hubFrame } from './frames';
import { startHubServing, type Peer } from './rawHub';

/**
 * A hub that fails each call with an error that repeats some of what it was sent, as a server reads it: values of headers,
 * cookies, user info, query and arguments. It repeats other ones each time. Then it closes the connection, with the
 * first of them.
 */
export const startRepeatingHub = (): ReturnType<typeof startHubServing> =>
  startHubServing(failCalls);

async function failCalls(peer: Peer): Promise<void> {
  const says = (text: string | undefined): string => `HubException: refused ${text ?? ''}`;
  let texts: string[] | undefined;
  while (texts === undefined || texts.length > 0) {
    const { payload } = await peer.nextFrame();
    const calls = payload
      .toString('utf8')
      .split('\x1e')
      .filter((text) => text.includes('"invocationId"'))
      .map((text) => JSON.parse(text) as { invocationId: string; arguments: unknown[] });
    for (const { invocationId, arguments: args } of calls) {
      texts ??= textsOf(peer.request, args);
      peer.socket.write(hubFrame({ type: 3, invocationId, error: says(texts.shift()) }));
    }
  }
  peer.socket.end(hubFrame({ type: 7, error: says(textsOf(peer.request, [])[0]) }));
}

/** What a server reads in a request and a call; of an error of a class three texts are shown. */
function textsOf(request: string, args: readonly unknown[]): string[] {
  const [line = '', ...headers] = request.split('\r\n');
  const valueOf = (name: string): string =>
    headers
      .find((header) => header.toLowerCase().startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? '';
  const cookies = valueOf('cookie')
    .split('; ')
    .map((pair) => pair.slice(pair.indexOf('=') + 1));
  const [, basic = ''] = valueOf('authorization').split('Basic ');
  const login = Buffer.from(basic, 'base64').toString('utf8').split(':');
  const { searchParams } = new URL(line.split(' ')[1] ?? '/', 'http://hub');
  const own = headers.filter((header) => header.startsWith('X-')).map((header) => header.slice(8));
  const given = args.flatMap((arg) => Object.values(arg as object).map(String));
  // The last one is cut off where it is too long.
  return [
    [...cookies, ...login],
    [...given, ...own],
    [...searchParams.values(), ...own, ...cookies],
  ].map((values) => values.join(' | '));
}
