import type { UseCase } from '../useCase';
import { sendToGroup } from './sendToGroup';

export const frequentJoinLeaveGroup: UseCase = {
  name: 'frequentJoinLeaveGroup',
  aliases: [],
  summary: 'Group traffic while connections that do not send join and leave their groups in turn.',
  services: ['hub', 'signalr'],
  hubMethods: sendToGroup.hubMethods!,
  assumption: 'Joining and leaving groups is in no table: only the messages count.',
  parameters: [
    ...sendToGroup.parameters,
    {
      name: 'joinLeaveInterval',
      type: 'duration',
      default: 1000,
      minimum: 1,
      maximum: 86_400_000,
      unitMistake: { from: 1, below: 10, unit: 's' },
      summary: 'Time between joining and leaving of one connection that does not send.',
      seedNote: 'The Azure SignalR benchmark took the sendingInterval for this.',
    },
  ],
  traffic: (parameters, load, service) => sendToGroup.traffic(parameters, load, service),
  run: { ...sendToGroup.run, othersMove: true },
};
