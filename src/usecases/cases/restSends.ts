import { callbacks } from '../../base/message';
import { groupParameters, messageParameters, targetsParameter } from '../parameters';
import { trafficOf, type HubRun, type UseCase } from '../useCase';

const byRest = (
  name: string,
  kind: Parameters<typeof trafficOf>[0],
  summary: string,
  { preparation, audience }: Pick<HubRun, 'preparation' | 'audience'>,
  parameters: UseCase['parameters'] = [],
): UseCase => ({
  ...{ name, summary, aliases: [], services: ['signalr', 'webpubsub'], inGuides: true },
  parameters: [...messageParameters, ...parameters],
  traffic: trafficOf(kind),
  run: { preparation, audience, message: { method: callbacks.recordLatency }, via: 'rest' },
});

export const restBroadcast = byRest(
  'restBroadcast',
  'rest_broadcast',
  'Callers of the REST API send to every connection.',
  { preparation: 'nothing', audience: 'everyone' },
);
export const restSendToUser = byRest(
  'restSendToUser',
  'rest_send_to_user',
  'Callers of the REST API send to one user each, never to their own.',
  { preparation: 'nothing', audience: 'client' },
  [targetsParameter],
);
export const restSendToGroup = byRest(
  'restSendToGroup',
  'rest_send_to_group',
  'Callers of the REST API send to a group.',
  { preparation: 'joinGroups', audience: 'group' },
  [...groupParameters, targetsParameter],
);

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
