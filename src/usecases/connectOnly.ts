import type { UseCase } from './useCase';

/** Connections are opened and held; nothing is sent. */
export const connectOnly: UseCase = {
  name: 'connectOnly',
  aliases: ['listen'],
  summary: 'Connections are opened and held; nothing is sent.',
  services: ['hub', 'signalr', 'webpubsub'],
  parameters: [],
  traffic: () => undefined,
  deliveries: () => 0,
};
