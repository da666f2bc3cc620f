import { messageParameters } from './messageParameters';
import { numberOf, type ParameterSpec } from './parameterSpec';
import type { UseCase } from './useCase';

/** How receivers are chosen where a message goes to one other connection or user, or to a group. */
export const targets: ParameterSpec = {
  name: 'targets',
  type: 'choice',
  default: 'fixed',
  choices: ['fixed', 'random'],
  summary:
    'Who receives: `fixed` gives each sender one other connection or user for the whole run, and has it send to groups of its own; `random` picks one of all for each message.',
  seedNote:
    'The Azure SignalR benchmark shuffled anew at each step, and a connection could be its own target; by REST it always was.',
};

/** A sender's message goes to one other connection. */
export const sendToClient: UseCase = {
  name: 'sendToClient',
  aliases: ['sendToConnection'],
  summary: 'Each message goes to one other connection, addressed by its connection id.',
  services: ['hub', 'signalr'],
  parameters: [...messageParameters, targets],
  traffic: (parameters, load) => ({
    kind: 'send_to_connection',
    senders: load.senders,
    intervalS: numberOf(parameters, 'sendingInterval') / 1000,
    messageBytes: numberOf(parameters, 'messageSize'),
  }),
  deliveries: () => 1,
  run: {
    preparation: 'connectionId',
    audience: 'client',
    message: {
      method: 'SendToClient',
      receiverKey: 'information.ConnectionId',
      measureMethod: 'SendToConnection',
    },
  },
};
