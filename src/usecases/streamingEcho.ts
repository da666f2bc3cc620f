import { messageParameters } from './messageParameters';
import { numberOf } from './parameterSpec';
import { mostOpenStreams, streamDirections, streamShape } from './streams';
import type { UseCase } from './useCase';

/** A sender streams items to the hub and gets them back as a stream, or only one of the two. */
export const streamingEcho: UseCase = {
  name: 'streamingEcho',
  aliases: [],
  summary: 'Each sending is a stream of items to the hub, which streams them back.',
  services: ['hub', 'signalr'],
  parameters: [
    ...messageParameters,
    {
      name: 'streamingItemCount',
      type: 'count',
      default: 2,
      minimum: 1,
      maximum: 1_000_000,
      summary: 'Items in one stream.',
    },
    {
      name: 'streamingItemSendDelay',
      type: 'duration',
      default: 0,
      minimum: 0,
      maximum: 3_600_000,
      summary: `Pause for each item: the client waits after it sent one, the hub before it gives one back. A connection has at most ${mostOpenStreams} streams open at a time.`,
      seedNote:
        'The Azure SignalR benchmark stamped the same object again for each item, so early items could look too fast.',
    },
    {
      name: 'streamDirection',
      type: 'choice',
      default: 'both',
      choices: streamDirections,
      summary:
        'Which way items go: `both`, up to StreamingEcho and back, each a delivery; `upload`, to StreamingUpload, whose answer with their number is the delivery; `download`, items that StreamingDownload makes, each a delivery that is due its number × `streamingItemSendDelay` after the request.',
    },
    {
      name: 'streamingCancelAfter',
      type: 'count',
      optional: true,
      minimum: 1,
      maximum: 1_000_000,
      summary:
        'Cancels each stream when its item of that number has come; what comes of later items counts as extra. Not for uploads.',
    },
    {
      name: 'streamingMethod',
      type: 'text',
      optional: true,
      summary:
        'Hub method of your own in place of StreamingEcho, StreamingUpload or StreamingDownload; it takes the same arguments and brings the items back in the same way.',
    },
  ],
  // The published tables have no streams: an item that goes either way counts as an echo.
  traffic: (parameters, load) => {
    const { items, wanted, direction } = streamShape(parameters);
    const messages = direction === 'download' ? wanted : items;
    return {
      kind: 'echo',
      senders: load.senders,
      intervalS: numberOf(parameters, 'sendingInterval') / 1000 / messages,
      messageBytes: numberOf(parameters, 'messageSize'),
    };
  },
  deliveries: (parameters) => {
    const { direction, wanted } = streamShape(parameters);
    return direction === 'upload' ? 1 : wanted;
  },
  run: {
    preparation: 'nothing',
    audience: 'self',
    streams: { both: 'StreamingEcho', upload: 'StreamingUpload', download: 'StreamingDownload' },
  },
};
