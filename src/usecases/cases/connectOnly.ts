import type { UseCase } from '../useCase';

export const connectOnly: UseCase = {
  name: 'connectOnly',
  aliases: ['listen'],
  summary: 'Connections are opened and held; nothing is sent.',
  services: ['hub', 'signalr', 'webpubsub'],
  parameters: [
    {
      name: 'rounds',
      type: 'count',
      default: 1,
      minimum: 1,
      maximum: 1000,
      summary:
        'Rounds of connecting: each opens an equal part of the connections and holds all of them for `singleStepDuration`, as a step of its own.',
    },
  ],
  traffic: () => undefined,
  run: { preparation: 'nothing', audience: 'nobody' },
};
