import { messageParameters } from './messageParameters';
import { numberOf } from './parameterSpec';
import type { UseCase } from './useCase';

/** A sender streams items to the hub and gets them back as a stream. */
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
      summary:
        'Pause for each item: the client waits after it sent one, the hub before it gives one back.',
      seedNote:
        'The seed tool stamped the same object again for each item, so early items could look too fast.',
    },
  ],
  // The published tables have no streams: a stream counts as that many echoes.
  traffic: (parameters, load) => ({
    kind: 'echo',
    senders: load.senders,
    intervalS:
      numberOf(parameters, 'sendingInterval') / 1000 / numberOf(parameters, 'streamingItemCount'),
    messageBytes: numberOf(parameters, 'messageSize'),
  }),
  deliveries: (parameters) => numberOf(parameters, 'streamingItemCount'),
};
