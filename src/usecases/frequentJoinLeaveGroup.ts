import type { UseCase } from './useCase';
import { sendToGroup } from './sendToGroup';

/** Group traffic while connections that do not send keep joining and leaving. */
export const frequentJoinLeaveGroup: UseCase = {
  name: 'frequentJoinLeaveGroup',
  aliases: [],
  summary: 'Group traffic while connections that do not send join and leave their groups in turn.',
  services: ['hub', 'signalr'],
  parameters: sendToGroup.parameters,
  traffic: (parameters, load, service) => sendToGroup.traffic(parameters, load, service),
  deliveries: (parameters, load) => sendToGroup.deliveries(parameters, load),
};
