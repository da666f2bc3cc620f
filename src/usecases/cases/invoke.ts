import {
  choice,
  groupParameters,
  largestGroup,
  list,
  namedSpecs,
  text,
  intervalParameters,
  messageParameters,
  targetsParameter,
  numberParameter,
  type Parameters,
  type ParameterSpec,
} from '../parameters';
import { argumentBytes, parseArguments, placeholdersIn, type CallArgument } from '../ownArguments';
import { itemBytes, ownStreamOf, ownStreamParameters, streamTraffic } from '../streams';
import type { TrafficKind, Audience, HubRun, OwnCall, Preparation, UseCase } from '../useCase';

const own: readonly ParameterSpec[] = namedSpecs({
  method: text({ required: true }, 'Hub method to call, as the server names it.'),
  arguments: list(
    { optional: true },
    'Arguments of the method as a list. Texts may hold `{sender}`, `{senderIndex}`, `{receiver}`, `{group}`, `{sequence}`, `{time}`, `{ticks}`, `{text:2KB}` and `{file:NAME}`; such texts need quotes.',
  ),
  reply: choice(
    { default: 'completion', choices: ['completion', 'stream', 'callback', 'none'] },
    'What counts as a delivery: the `completion` that the sender gets, each item of the `stream` that the method returns, a `callback` that the hub calls on its clients, or `none`: messages are only sent.',
  ),
  callback: text(
    { optional: true },
    'Client method that the hub calls, with reply: callback. It must bring back the first `{text}` of at least 54 bytes in the arguments, by which it is recognised.',
  ),
  receivers: choice(
    { default: 'self', choices: ['self', 'client', 'group', 'everyone'] },
    'Whom the hub calls back, with reply: callback: the sender, the client of `{receiver}`, all of `{group}`, or everyone.',
  ),
  joinMethod: text(
    { optional: true },
    'Hub method that adds each connection to its group before the load, with the group as its argument; `JoinGroup` without this key. It is not called where calls of a session join.',
  ),
});

const sendingInterval = messageParameters.find(({ name }) => name === 'sendingInterval')!;

const argumentsOf = (parameters: Parameters): readonly CallArgument[] =>
  parseArguments(String(parameters['arguments'] ?? '[]'));

const replyOf = (parameters: Parameters): OwnCall['reply'] =>
  (parameters['reply'] as OwnCall['reply'] | undefined) ?? 'completion';

function audienceOf(parameters: Parameters): Audience {
  const reply = replyOf(parameters);
  if (reply === 'callback') return parameters['receivers'] as Audience;
  return reply === 'none' ? 'nobody' : 'self';
}

const kinds: Readonly<Record<Audience, TrafficKind>> = {
  self: 'echo',
  client: 'send_to_connection',
  group: 'send_to_group',
  everyone: 'broadcast',
  // The published tables have no traffic that only goes in.
  nobody: 'echo',
};

function runOf(parameters: Parameters): HubRun {
  const audience = audienceOf(parameters);
  const streams = ownStreamOf(parameters);
  const sent = [...argumentsOf(parameters), ...parseArguments(streams?.own?.items ?? '[]')];
  const names = placeholdersIn(sent).map(({ name }) => name);
  const ids = names.includes('sender') || audience === 'client';
  const preparation: Preparation =
    audience === 'group' ? 'joinGroups' : ids ? 'connectionId' : 'nothing';
  return {
    preparation,
    audience,
    ...(ids && { needsId: true }),
    ...(typeof parameters['joinMethod'] === 'string' && { joinMethod: parameters['joinMethod'] }),
    ...(streams !== undefined && { streams }),
    ownCall: {
      method: String(parameters['method']),
      arguments: String(parameters['arguments'] ?? '[]'),
      reply: replyOf(parameters),
      ...(typeof parameters['callback'] === 'string' && { callback: parameters['callback'] }),
    },
  };
}

export const invoke: UseCase = {
  name: 'invoke',
  aliases: ['ownMethod', 'hubMethod'],
  summary: 'Each sender calls a method of your own hub with your own arguments.',
  services: ['hub', 'signalr'],
  parameters: [
    ...own,
    ...ownStreamParameters,
    sendingInterval,
    ...intervalParameters,
    targetsParameter,
    ...groupParameters.map((spec) =>
      spec.required === true ? { ...spec, required: false, optional: true } : spec,
    ),
  ],
  starting: {
    method: 'Echo',
    arguments: "['{ticks}', '{text:2KB}']",
    reply: 'completion',
    sendingInterval: '1s',
  },
  traffic: (parameters, { senders, connections }) => {
    const kind = kinds[audienceOf(parameters)];
    const intervalS = numberParameter(parameters, 'sendingInterval') / 1000;
    const stream = ownStreamOf(parameters);
    if (stream !== undefined) {
      const messageBytes = itemBytes(stream, parameters);
      return { kind, senders, ...streamTraffic(stream, intervalS), messageBytes };
    }
    const messageBytes = argumentBytes(argumentsOf(parameters));
    const toGroup = kind === 'send_to_group';
    return {
      ...{ kind, senders, intervalS, messageBytes },
      ...(replyOf(parameters) === 'none' && { outEach: 0 }),
      ...(toGroup && { groupMembers: largestGroup(parameters, connections) }),
    };
  },
  run: { preparation: 'nothing', audience: 'self' },
  runWith: runOf,
};
