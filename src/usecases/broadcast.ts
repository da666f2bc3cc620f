import { messageParameters } from './messageParameters';
import { numberOf } from './parameterSpec';
import type { UseCase } from './useCase';

/** A sender's message goes to every connection. */
export const broadcast: UseCase = {
  name: 'broadcast',
  aliases: [],
  summary: 'Each message goes to every connection, the sender included.',
  services: ['hub', 'signalr'],
  parameters: messageParameters,
  traffic: (parameters, load) => ({
    kind: 'broadcast',
    senders: load.senders,
    intervalS: numberOf(parameters, 'sendingInterval') / 1000,
    messageBytes: numberOf(parameters, 'messageSize'),
  }),
  deliveries: (_parameters, load) => load.connections,
  run: {
    preparation: 'nothing',
    audience: 'everyone',
    message: { method: 'Broadcast', measureMethod: 'Broadcast' },
  },
};
