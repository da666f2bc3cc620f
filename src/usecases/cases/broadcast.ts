import { callOf, messageTraffic, type HubMethod, type UseCase } from '../useCase';
import { messageParameters } from '../parameters';

const method: HubMethod = {
  name: 'Broadcast',
  measureName: 'Broadcast',
  does: { kind: 'deliver', to: 'everyone' },
};

export const broadcast: UseCase = {
  name: 'broadcast',
  aliases: [],
  summary: 'Each message goes to every connection, the sender included.',
  services: ['hub', 'signalr'],
  hubMethods: [method],
  inGuides: true,
  parameters: messageParameters,
  traffic: (parameters, load) => ({ kind: 'broadcast', ...messageTraffic(parameters, load) }),
  run: { preparation: 'nothing', audience: 'everyone', message: callOf(method) },
};
