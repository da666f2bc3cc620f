import { hubMessageOf, groupMethods, trafficOf, type HubMethod, type UseCase } from '../useCase';
import {
  unitMistakeBelow,
  count,
  duration,
  groupParameters,
  namedSpecs,
  messageParameters,
  targetsParameter,
  choice,
  numberParameter,
  type Parameters,
} from '../parameters';
import {
  streamDirections,
  streamNumbers,
  streamParameters,
  streamTraffic,
  type StreamDirection,
  type StreamShape,
} from '../streams';

const methods = {
  echo: {
    ...{ name: 'Echo', measureName: 'Echo' },
    action: { kind: 'deliver', to: 'caller' },
  },
  broadcast: {
    ...{ name: 'Broadcast', measureName: 'Broadcast' },
    action: { kind: 'deliver', to: 'everyone' },
  },
  sendToClient: {
    ...{ name: 'SendToClient', measureName: 'SendToConnection' },
    action: { kind: 'deliver', to: 'client', receiverKey: 'information.ConnectionId' },
  },
  sendToGroup: {
    ...{ name: 'SendToGroup', measureName: 'GroupBroadcast' },
    action: { kind: 'deliver', to: 'group', receiverKey: 'information.GroupName' },
  },
} as const satisfies Readonly<Record<string, HubMethod>>;

export const echo: UseCase = {
  name: 'echo',
  aliases: [],
  summary: 'Each sender sends to the hub and gets its own message back.',
  services: ['hub', 'signalr', 'webpubsub'],
  hubMethods: [methods.echo],
  inGuides: true,
  parameters: messageParameters,
  traffic: (parameters, load, service) =>
    trafficOf(service === 'webpubsub' ? 'upstream_echo' : 'echo')(parameters, load),
  run: { preparation: 'nothing', audience: 'self', message: hubMessageOf(methods.echo) },
};

export const broadcast: UseCase = {
  name: 'broadcast',
  aliases: [],
  summary: 'Each message goes to every connection, the sender included.',
  services: ['hub', 'signalr'],
  hubMethods: [methods.broadcast],
  inGuides: true,
  parameters: messageParameters,
  traffic: trafficOf('broadcast'),
  run: { preparation: 'nothing', audience: 'everyone', message: hubMessageOf(methods.broadcast) },
};

export const sendToClient: UseCase = {
  name: 'sendToClient',
  aliases: ['sendToConnection'],
  summary: 'Each message goes to one other connection, addressed by its connection id.',
  services: ['hub', 'signalr'],
  hubMethods: [methods.sendToClient],
  inGuides: true,
  parameters: [...messageParameters, targetsParameter],
  traffic: trafficOf('send_to_connection'),
  run: {
    preparation: 'connectionId',
    audience: 'client',
    message: hubMessageOf(methods.sendToClient),
  },
};

export const sendToGroup: UseCase = {
  name: 'sendToGroup',
  aliases: [],
  summary: 'Each message goes to all members of a group that the sender belongs to.',
  services: ['hub', 'signalr', 'webpubsub'],
  hubMethods: [methods.sendToGroup, ...groupMethods],
  inGuides: true,
  parameters: [...messageParameters, ...groupParameters, targetsParameter],
  traffic: trafficOf('send_to_group'),
  run: { preparation: 'joinGroups', audience: 'group', message: hubMessageOf(methods.sendToGroup) },
};

export const frequentJoinLeaveGroup: UseCase = {
  name: 'frequentJoinLeaveGroup',
  aliases: [],
  summary: 'Group traffic while connections that do not send join and leave their groups in turn.',
  services: ['hub', 'signalr'],
  hubMethods: sendToGroup.hubMethods!,
  assumption: 'Joining and leaving groups is in no table: only the messages count.',
  parameters: [
    ...sendToGroup.parameters,
    ...namedSpecs({
      joinLeaveInterval: duration(
        { range: [1, 86_400_000], default: 1000, unitMistake: unitMistakeBelow(10, 's') },
        'Time between joining and leaving of one connection that does not send.',
        'The Azure SignalR benchmark took the sendingInterval for this.',
      ),
    }),
  ],
  traffic: trafficOf('send_to_group'),
  run: { ...sendToGroup.run, othersMove: true },
};

export const connectOnly: UseCase = {
  name: 'connectOnly',
  aliases: ['listen'],
  summary: 'Connections are opened and held; nothing is sent.',
  services: ['hub', 'signalr', 'webpubsub'],
  parameters: namedSpecs({
    rounds: count(
      { range: [1, 1000], default: 1 },
      'Rounds of connecting: each opens an equal part of the connections and holds all of them for `singleStepDuration`, as a step of its own.',
    ),
  }),
  traffic: () => undefined,
  run: { preparation: 'nothing', audience: 'nobody' },
};

const streamMethods: Readonly<Record<StreamDirection, HubMethod>> = {
  both: streaming('StreamingEcho', 'both'),
  upload: streaming('StreamingUpload', 'upload'),
  download: streaming('StreamingDownload', 'download'),
};

function streaming(name: string, direction: StreamDirection): HubMethod {
  return { name, action: { kind: 'stream', direction } };
}

const { streamingItemCount, streamingItemSendDelay, streamingCancelAfter } = streamParameters;

function shapeOf(parameters: Parameters): StreamShape {
  const direction = streamDirections.find((one) => one === parameters['streamDirection']) ?? 'both';
  return { method: streamMethods[direction].name, direction, ...streamNumbers(parameters) };
}

export const streamingEcho: UseCase = {
  name: 'streamingEcho',
  aliases: [],
  summary: 'Each sending is a stream of items to the hub, which streams them back.',
  services: ['hub', 'signalr'],
  hubMethods: Object.values(streamMethods),
  parameters: [
    ...messageParameters,
    ...namedSpecs({
      streamingItemCount,
      streamingItemSendDelay,
      streamDirection: choice(
        { default: 'both', choices: streamDirections },
        'Which way items go: `both`, up to StreamingEcho and back, each a delivery; `upload`, to StreamingUpload, whose answer with their number is the delivery; `download`, items that StreamingDownload makes, each a delivery that is due its number × `streamingItemSendDelay` after the request.',
      ),
      streamingCancelAfter,
    }),
  ],
  traffic: (parameters, load) => ({
    ...trafficOf('echo')(parameters, load),
    ...streamTraffic(shapeOf(parameters), numberParameter(parameters, 'sendingInterval') / 1000),
  }),
  run: { preparation: 'nothing', audience: 'self' },
  runWith: (parameters) => ({
    ...{ preparation: 'nothing', audience: 'self' },
    streams: shapeOf(parameters),
  }),
};
