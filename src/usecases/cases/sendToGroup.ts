import { groupParameters, largestGroup, messageParameters, targets } from '../parameters';
import { callOf, groupMethods, messageTraffic, type HubMethod, type UseCase } from '../useCase';

const method: HubMethod = {
  name: 'SendToGroup',
  measureName: 'GroupBroadcast',
  does: { kind: 'deliver', to: 'group', receiverKey: 'information.GroupName' },
};

export const sendToGroup: UseCase = {
  name: 'sendToGroup',
  aliases: [],
  summary: 'Each message goes to all members of a group that the sender belongs to.',
  services: ['hub', 'signalr', 'webpubsub'],
  hubMethods: [method, ...groupMethods],
  inGuides: true,
  parameters: [...messageParameters, ...groupParameters, targets],
  traffic: (parameters, load) => ({
    kind: 'send_to_group',
    ...messageTraffic(parameters, load),
    groupMembers: largestGroup(parameters, load.connections),
  }),
  run: { preparation: 'joinGroups', audience: 'group', message: callOf(method) },
};
