/** Use cases, a file each: who sends, what is called, and who receives it. This is the simplest. */
import { callOf, messageTraffic, type HubMethod, type UseCase } from '../useCase';
import { messageParameters } from '../parameters';

const method: HubMethod = {
  name: 'Echo',
  measureName: 'Echo',
  does: { kind: 'deliver', to: 'caller' },
};

export const echo: UseCase = {
  name: 'echo',
  aliases: [],
  summary: 'Each sender sends to the hub and gets its own message back.',
  services: ['hub', 'signalr', 'webpubsub'],
  hubMethods: [method],
  inGuides: true,
  parameters: messageParameters,
  traffic: (parameters, load, service) => ({
    kind: service === 'webpubsub' ? 'upstream_echo' : 'echo',
    ...messageTraffic(parameters, load),
  }),
  run: { preparation: 'nothing', audience: 'self', message: callOf(method) },
};
