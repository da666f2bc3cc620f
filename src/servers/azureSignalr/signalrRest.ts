import { isUtf8 } from 'node:buffer';
import { recordSeparator } from '../../wire/message/hubMessage';
import { skipSpace, readString, walk } from '../../wire/message/jsonScan';
import { isLoopback } from '../../wire/socket/hosts';
import { jsonProtocol, invocationFrames, type FrameSource } from '../hubProtocol/protocols';
import { isUserId } from '../service/emulator';
import { isUpstreamUrl, type UpstreamTemplate } from '../service/emulatorOptions';
import {
  accepted,
  commonRoutes,
  handlerRoutes,
  badRequest,
  noContent,
  jsonBody,
  ok,
  RestError,
  route,
  type RestApi,
  type RestCall,
  type RestHost,
} from '../service/rest';
import { isOneOf, type ServiceClient, type ServiceHub } from './serviceHub';
import type { SignalrUpstream } from './serverlessEvents';

export interface SignalrRestHost extends RestHost<ServiceHub> {
  readonly upstream: SignalrUpstream;
}

type Call = RestCall<ServiceHub>;

const longestTokenMinutes = 24 * 60;
const longestTtlS = 366 * 24 * 3600;

function wantedBy({ query }: Call): (client: ServiceClient) => boolean {
  const isExcluded = isOneOf(query.getAll('excluded'));
  return (client) => !isExcluded(client);
}

const handlerForm =
  '{"url":…} with an http or https address of this machine, if need be with categories and events: "*" or names with commas between';

/** Only on this machine: the key must not open the network. */
function handlerIn({
  url,
  categories = '*',
  events = '*',
}: Readonly<Record<string, unknown>>): UpstreamTemplate | undefined {
  if (typeof url !== 'string' || typeof categories !== 'string' || typeof events !== 'string')
    return undefined;
  if (!isUpstreamUrl(url) || !isLoopback(url.replace(/[{}]/g, ''))) return undefined;
  return { url, categories, events };
}

/** Routes as in the REST API, version 2022-06-01; those that end with `:send` have a message in their body. */
export const signalrRest: RestApi<ServiceHub, SignalrRestHost> = {
  codes: {
    400: 'Error.Request.Invalid',
    401: 'Error.Unauthorized',
    403: 'Error.Forbidden',
    404: 'Error.Path.NotFound',
    405: 'Error.Method.NotAllowed',
    413: 'Error.Request.TooLarge',
  },
  errorBody: ({ message }, code) => ({ code, message, target: null, details: [] }),
  issuesKeys: true,
  resolvePath: (path) => {
    const { isSettings, method, hub, parts, query } = path;
    if (isSettings) return { ...path, hub: hub.toLowerCase() };
    // The application name is a prefix of the hub.
    const application = query.get('application');
    const name = application === null ? hub : `${application}_${hub}`;
    // The first version had no `:send`; GET is allowed for HEAD.
    const isOldSend = method === 'POST' && parts.at(-1)?.startsWith(':') !== true;
    return {
      isSettings,
      method: method === 'GET' ? 'HEAD' : method,
      hub: name.toLowerCase(),
      parts: isOldSend ? [...parts, ':send'] : parts,
      query,
    };
  },
  routes: [
    ...commonRoutes<ServiceClient, ServiceHub, SignalrRestHost>({
      sendTo: (receivers) => (call) => {
        const message = readRestMessage(call);
        call.hub.send(receivers(call), message, isOneOf(call.query.getAll('excluded')));
        return accepted;
      },
      close: (client, reason) => client.close(reason),
      wantedBy,
      removed: ok,
    }),
    route('PUT', 'users/{user}/groups/{group}', addUser),
    route('DELETE', 'users/{user}/groups/{group}', ({ hub, names }) => {
      hub.userGroups.remove(names.user, names.group);
      return noContent;
    }),
    route('DELETE', 'users/{user}/groups', ({ hub, names }) => {
      hub.userGroups.removeAll(names.user);
      return noContent;
    }),
    route('HEAD', 'users/{user}/groups/{group}', ({ hub, names }) => {
      if (hub.userGroups.has(names.user, names.group)) return ok;
      throw new RestError(404, 'The user is not in this group.', { code: 'Info.User.NotInGroup' });
    }),
    route('POST', ':generateToken', async ({ hub, query }, host) => {
      const asked = Number(query.get('minutesToExpire') ?? NaN);
      const minutes = asked >= 1 && asked <= longestTokenMinutes ? Math.floor(asked) : 60;
      const userId = query.get('userId');
      const role = query.getAll('role');
      const claims = {
        ...(userId !== null && { 'asrs.s.uid': userId }),
        ...(role.length > 0 && { role }),
      };
      const token = await host.clientToken(`/client/?hub=${hub.name}`, claims, minutes);
      return { status: 200, body: { token } };
    }),
  ],
  settingsRoutes: handlerRoutes<ServiceClient, UpstreamTemplate>(handlerIn, handlerForm, noContent),
};

function addUser({ hub, names: { user, group }, query }: Call): typeof ok {
  if (!isUserId(user)) throw badRequest('A user id has 1 to 1,024 characters.');
  const ttl = query.get('ttl');
  const seconds = ttl === null ? Infinity : /^[0-9]{1,9}$/.test(ttl) ? Number(ttl) : NaN;
  if (ttl !== null && !(seconds <= longestTtlS))
    throw badRequest('The ttl is not a number of seconds.');
  if (hub.userGroups.add(user, group, seconds)) return ok;
  throw badRequest('The emulator remembers no more users in groups.');
}

const noArguments = Buffer.from('[]');

/** Reads `{"target":"name","arguments":[…]}`. @throws RestError */
function readRestMessage({ body }: Pick<Call, 'body'>): FrameSource {
  if (!isUtf8(body)) throw badRequest('The body is not UTF-8 text.');
  // The separator would end the hub message.
  if (body.includes(recordSeparator)) throw badRequest('The body is not JSON.');
  jsonBody({ body });
  let target: string | undefined;
  let list: Buffer | undefined;
  const end = walk(body, skipSpace(body, 0), body.length, (keyStart, keyEnd, start, valueEnd) => {
    // .NET reads member names in any case.
    const key = readString(body, keyStart, keyEnd).toLowerCase();
    if (key === 'target' && body[start] === 0x22) target = readString(body, start, valueEnd);
    if (key === 'arguments') list = body.subarray(start, valueEnd);
  });
  if (end < 0) throw badRequest('The body is nested too deeply.');
  if (target === undefined || target === '') throw badRequest('The body has no target.');
  const bytes = list === undefined || list.equals(Buffer.from('null')) ? noArguments : list;
  if (bytes[0] !== 0x5b) throw badRequest('The arguments are not a list.');
  return invocationFrames(jsonProtocol, target, bytes);
}
