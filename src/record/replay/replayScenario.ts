import { mostFrequent } from '../../base/collect';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { plural, formatCount, formatDurationMs } from '../../base/units';
import { pubSubConfig, secretReferences, recordedTarget, certificateKeys } from '../clientsConfig';
import { urlWithoutKeys } from '../analyse/values';
import type { OpenEvent, Recording } from '../recording';
import { newConversation, readConversations } from '../readConversations';
import { openRecording } from '../recordingFile';
import { CommentedMap, CommentedValue } from '../yamlText';
import { yamlText } from '../yamlText';
import { nothingToReplay } from './readReplay';
import { mostFrequentPath, replayBounds, isReplayable } from './readReplay';

const mostConnections = 1_000_000;

export interface ReplayOptions {
  readonly times?: number;
  readonly speed?: number;
  /** Time over which the replays of a client begin. */
  readonly spreadMs?: number;
  /** Path of the recording in the scenario; absent: its name, for a scenario in the same folder. */
  readonly named?: string;
}

/**
 * The text of a scenario that replays the recording.
 * @throws ExpectedError `recording-invalid`, `nothing-to-replay`, `replay-clients`
 */
export async function replayScenario(
  file: string,
  { times = 1, speed = 1, spreadMs = 1000, named }: ReplayOptions = {},
): Promise<string> {
  const name = path.basename(file);
  const recording = await openRecording(file);
  const { opens, lengthUs } = await replayedClients(recording);
  if (opens.length === 0) throw nothingToReplay(recording.header, name);
  const connections = times * opens.length;
  if (connections > mostConnections)
    throw new ExpectedError(
      'replay-clients',
      `${formatCount(times)} × ${formatCount(opens.length)} recorded clients are ${formatCount(connections)} connections; at most ${formatCount(mostConnections)} are possible.`,
    );
  const isPubSub = recording.header.kind === 'webpubsub';
  const target = urlWithoutKeys(recordedTarget(recording.header.target, opens));
  const takesMs = Math.floor(lengthUs / speed / 1000) + 1 + (times > 1 ? spreadMs : 0);
  const [transport] = mostFrequent(opens.map((open) => open.transport));
  const [protocol] = mostFrequent(opens.map((open) => open.protocol));
  const day = recording.header.startedAt.slice(0, 10);
  const clients = plural(opens.length, 'client');
  const scenario = new CommentedMap({
    config: new CommentedMap({
      ...(isPubSub ? pubSubConfig(opens, true) : { target, ...certificateKeys(recording.header) }),
      connections: new CommentedValue(
        connections,
        `${formatCount(times)} × ${clients}; each does what a client did`,
      ),
      baseSending: connections,
      warmup: '0s',
      singleStepDuration: new CommentedValue(`${takesMs}ms`, 'one replay'),
      transport: transport === 'WebSockets' ? undefined : transport,
      protocol: protocol === 'messagepack' ? protocol : undefined,
      ...(!isPubSub && secretReferences(opens, target)),
    }),
    scenario: new CommentedMap({
      name: 'replay',
      parameters: new CommentedMap({
        recording: named ?? name,
        speed,
        spread: new CommentedValue(
          spreadMs % 1000 === 0 ? `${spreadMs / 1000}s` : `${spreadMs}ms`,
          'replays of one client begin over this time',
        ),
      }),
    }),
  });
  const head = `Replays ${name}: ${clients}, ${formatDurationMs(Math.round(lengthUs / 1000))}, recorded ${day} from ${target}.`;
  return yamlText([head], scenario);
}

async function replayedClients(
  recording: Recording,
): Promise<{ readonly opens: OpenEvent[]; readonly lengthUs: number }> {
  let room = replayBounds.clients;
  const { clients: all } = await readConversations(recording, {
    leftOut: new Map(),
    opened: (open) =>
      isReplayable(open, recording.header.kind) && room-- > 0 ? newConversation(open) : undefined,
  });
  const main = mostFrequentPath(all.map(({ open }) => open));
  const clients = all.filter(({ open }) => open.path === main);
  const opens = clients.map(({ open }) => open);
  const startUs = opens[0]?.t ?? 0;
  const endUs = clients.reduce((latest, { lastUs }) => Math.max(latest, lastUs), startUs);
  return { opens, lengthUs: endUs - startUs };
}
