import { trafficOf, type HubMethod, type UseCase } from '../useCase';
import { choice, listOf, messageParameters, numberOf, type Parameters } from '../parameters';
import {
  streamDirections,
  streamNumbers,
  streamParameters,
  streamTraffic,
  type StreamDirection,
  type StreamShape,
} from '../streams';

const methods: Readonly<Record<StreamDirection, HubMethod>> = {
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
  return { method: methods[direction].name, direction, ...streamNumbers(parameters) };
}

export const streamingEcho: UseCase = {
  name: 'streamingEcho',
  aliases: [],
  summary: 'Each sending is a stream of items to the hub, which streams them back.',
  services: ['hub', 'signalr'],
  hubMethods: Object.values(methods),
  parameters: [
    ...messageParameters,
    ...listOf({
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
    ...streamTraffic(shapeOf(parameters), numberOf(parameters, 'sendingInterval') / 1000),
  }),
  run: { preparation: 'nothing', audience: 'self' },
  runWith: (parameters) => ({
    ...{ preparation: 'nothing', audience: 'self' },
    streams: shapeOf(parameters),
  }),
};
