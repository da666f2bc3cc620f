/** A recording as the text of a scenario that replays it: what runs is a scenario like any other. */
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { visibleLine } from '../../base/text';
import { formatCount, formatDurationMs } from '../../base/units';
import { mostFrequent, pubSubConfig, secretKeys, targetOf, trustKeys } from '../clientsConfig';
import { urlWithoutKeys } from '../analyse/values';
import type { OpenEvent, Recording } from '../recording';
import { openRecording } from '../recordingFile';
import { Keys, type WrittenKey } from '../writtenKeys';
import { nothingToReplay } from './nothingToReplay';
import { mainPath, replayBounds, speaks } from './readReplay';

/** A scenario can have so many. */
const mostConnections = 1_000_000;

export interface ReplayWishes {
  /** How often each recorded client is replayed. */
  readonly times?: number;
  readonly speed?: number;
  /** Over which time its replays begin. */
  readonly spreadMs?: number;
  /** How the scenario names the file; absent: by its name alone, for a scenario in the same folder. */
  readonly named?: string;
}

/**
 * @throws ExpectedError `recording-invalid`, `nothing-to-replay`, `replay-clients`
 */
export async function replayScenario(
  file: string,
  { times = 1, speed = 1, spreadMs = 1000, named }: ReplayWishes = {},
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
  const target = urlWithoutKeys(targetOf(recording.header.target, opens));
  const takesMs = Math.floor(lengthUs / speed / 1000) + 1 + (times > 1 ? spreadMs : 0);
  const [transport] = mostFrequent(opens.map((open) => open.transport));
  const [protocol] = mostFrequent(opens.map((open) => open.protocol));
  const day = recording.header.startedAt.slice(0, 10);
  const clients = `${formatCount(opens.length)} ${opens.length === 1 ? 'client' : 'clients'}`;
  const config: Record<string, WrittenKey> = {
    ...(isPubSub
      ? pubSubConfig(opens, true)
      : { target: { value: target }, ...trustKeys(recording.header) }),
    connections: {
      value: connections,
      beside: `${formatCount(times)} × ${clients}; each does what a client did`,
    },
    baseSending: { value: connections },
    warmup: { value: '0s' },
    singleStepDuration: { value: `${takesMs}ms`, beside: 'one replay' },
    ...(transport !== 'WebSockets' && { transport: { value: transport } }),
    ...(protocol === 'messagepack' && { protocol: { value: protocol } }),
    ...(!isPubSub && secretKeys(opens, target)),
  };
  const parameters = {
    recording: { value: named ?? name },
    speed: { value: speed },
    spread: {
      value: spreadMs % 1000 === 0 ? `${spreadMs / 1000}s` : `${spreadMs}ms`,
      beside: 'replays of one client begin over this time',
    },
  };
  const scenario = new Keys({
    name: { value: 'replay' },
    parameters: { value: new Keys(parameters) },
  });
  const head = `Replays ${name}: ${clients}, ${formatDurationMs(Math.round(lengthUs / 1000))}, recorded ${day} from ${target}.`;
  return `# ${visibleLine(head)}\n\n${yamlOf({ config: { value: new Keys(config) }, scenario: { value: scenario } })}`;
}

async function replayedClients({
  header: { kind },
  events,
}: Recording): Promise<{ readonly opens: OpenEvent[]; readonly lengthUs: number }> {
  const all = new Map<number, { readonly open: OpenEvent; lastUs: number }>();
  for await (const event of events) {
    if (event.ev === 'open' && speaks(event, kind) && all.size < replayBounds.clients)
      all.set(event.client, { open: event, lastUs: event.t });
    const client = all.get(event.client);
    if (client !== undefined && event.ev !== 'gap') client.lastUs = event.t;
  }
  const main = mainPath([...all.values()].map(({ open }) => open));
  const clients = [...all.values()].filter(({ open }) => open.path === main);
  const ends = clients.map(({ lastUs }) => lastUs);
  const opens = clients.map(({ open }) => open);
  const startUs = opens[0]?.t ?? 0;
  return { opens, lengthUs: ends.reduce((most, us) => Math.max(most, us), startUs) - startUs };
}

/** Texts in quotes as JSON has them, which YAML reads too. */
function yamlOf(keys: Readonly<Record<string, WrittenKey>>, indent = ''): string {
  return Object.entries(keys)
    .map(([name, { value, above = [], beside }]) => {
      const comments = above.map((line) => `${indent}# ${visibleLine(line)}\n`).join('');
      const key = /^[A-Za-z][\w-]*$/.test(name) ? name : JSON.stringify(name);
      const behind = beside === undefined ? '' : ` # ${visibleLine(beside)}`;
      if (value instanceof Keys)
        return `${comments}${indent}${key}:${behind}\n${yamlOf(value.keys, `${indent}  `)}`;
      const isPlain = typeof value !== 'string' || /^[A-Za-z0-9][\w.-]*$/.test(value);
      return `${comments}${indent}${key}: ${isPlain ? String(value) : JSON.stringify(value)}${behind}\n`;
    })
    .join('');
}
