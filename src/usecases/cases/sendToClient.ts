import { callOf, messageTraffic, type HubMethod, type UseCase } from '../useCase';
import { messageParameters, targets } from '../parameters';

const method: HubMethod = {
  name: 'SendToClient',
  measureName: 'SendToConnection',
  does: { kind: 'deliver', to: 'client', receiverKey: 'information.ConnectionId' },
};

export const sendToClient: UseCase = {
  name: 'sendToClient',
  aliases: ['sendToConnection'],
  summary: 'Each message goes to one other connection, addressed by its connection id.',
  services: ['hub', 'signalr'],
  hubMethods: [method],
  inGuides: true,
  parameters: [...messageParameters, targets],
  traffic: (parameters, load) => ({
    kind: 'send_to_connection',
    ...messageTraffic(parameters, load),
  }),
  run: { preparation: 'connectionId', audience: 'client', message: callOf(method) },
};
