import { groupParameters, largestGroup } from './groups';
import { messageParameters } from './messageParameters';
import { numberOf } from './parameterSpec';
import { targets } from './sendToClient';
import type { UseCase } from './useCase';

/** A sender's message goes to all members of a group the sender is in. */
export const sendToGroup: UseCase = {
  name: 'sendToGroup',
  aliases: [],
  summary: 'Each message goes to all members of a group that the sender belongs to.',
  services: ['hub', 'signalr', 'webpubsub'],
  parameters: [...messageParameters, ...groupParameters, targets],
  traffic: (parameters, load) => ({
    kind: 'send_to_group',
    senders: load.senders,
    intervalS: numberOf(parameters, 'sendingInterval') / 1000,
    messageBytes: numberOf(parameters, 'messageSize'),
    groupMembers: largestGroup(parameters, load.connections),
  }),
  deliveries: (parameters, load) => largestGroup(parameters, load.connections),
  run: {
    preparation: 'joinGroups',
    audience: 'group',
    message: {
      method: 'SendToGroup',
      receiverKey: 'information.GroupName',
      measureMethod: 'GroupBroadcast',
    },
  },
};
