import { callbacks } from '../../base/message';
import { groupParameters, largestGroup, messageParameters, targets } from '../parameters';
import { messageTraffic, type HubRun, type UseCase } from '../useCase';

/** Clients are called back as by a hub. */
const byRest = (run: Omit<HubRun, 'message' | 'via'>): HubRun => ({
  ...run,
  message: { method: callbacks.recordLatency },
  via: 'rest',
});

export const restBroadcast: UseCase = {
  name: 'restBroadcast',
  aliases: [],
  summary: 'Callers of the REST API send to every connection.',
  services: ['signalr', 'webpubsub'],
  inGuides: true,
  parameters: messageParameters,
  traffic: (parameters, load) => ({ kind: 'rest_broadcast', ...messageTraffic(parameters, load) }),
  run: byRest({ preparation: 'nothing', audience: 'everyone' }),
};

export const restSendToUser: UseCase = {
  name: 'restSendToUser',
  aliases: [],
  summary: 'Callers of the REST API send to one user each, who is another one than their own.',
  services: ['signalr', 'webpubsub'],
  inGuides: true,
  parameters: [...messageParameters, targets],
  traffic: (parameters, load) => ({
    kind: 'rest_send_to_user',
    ...messageTraffic(parameters, load),
  }),
  run: byRest({ preparation: 'nothing', audience: 'client' }),
};

export const restSendToGroup: UseCase = {
  name: 'restSendToGroup',
  aliases: [],
  summary: 'Callers of the REST API send to a group.',
  services: ['signalr', 'webpubsub'],
  inGuides: true,
  parameters: [...messageParameters, ...groupParameters, targets],
  traffic: (parameters, load) => ({
    kind: 'rest_send_to_group',
    ...messageTraffic(parameters, load),
    groupMembers: largestGroup(parameters, load.connections),
  }),
  run: byRest({ preparation: 'joinGroups', audience: 'group' }),
};

const persistent = (base: UseCase, name: string): UseCase => ({
  ...base,
  name,
  services: ['signalr'],
  inGuides: false,
  assumption:
    'The REST tables were measured with one HTTP request per message, not with one lasting connection.',
  run: { ...base.run, via: 'persistent' },
  summary: `${base.summary} The calls go over one server connection instead of one request each.`,
});

export const restPersistBroadcast = persistent(restBroadcast, 'restPersistBroadcast');
export const restPersistSendToUser = persistent(restSendToUser, 'restPersistSendToUser');
export const restPersistSendToGroup = persistent(restSendToGroup, 'restPersistSendToGroup');
