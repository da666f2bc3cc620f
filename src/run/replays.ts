/** Replays of recordings: a bundle of its own. */
import { ExpectedError } from '../base/expectedError';
import { maxSources } from '../base/message';
import { services } from '../base/serviceTraits';
import type { Translate } from '../base/text';
import { formatCount, formatDurationMs } from '../base/units';
import type { Plan } from '../plan/plan';
import { openReplay, type OpenedReplay } from '../record/replay/readReplay';
import type { Scenario, ScenarioEntry } from '../scenario/scenario';
import type { TargetContext } from '../targets/target';
import { listCalls, sessionStepsOf } from '../usecases/sessionSteps';
import { isReplay } from './scenarioFile';

export interface Replays {
  readonly scenario: Scenario;
  readonly withTracks: (plan: Plan) => Plan;
  readonly notes: readonly string[];
}

/** Reads the recordings of a scenario. @throws ExpectedError `replay-connections`, and as `openReplay` */
export async function openReplays(
  scenario: Scenario,
  { folder = '.', t }: Pick<TargetContext, 'folder'> & { readonly t: Translate },
): Promise<Replays> {
  const { speaksHub } = services[scenario.service];
  const protocol = speaksHub ? scenario.protocol : ('webpubsub' as const);
  const notes: string[] = [];
  const opened = new Map<number, OpenedReplay>();
  const entries: ScenarioEntry[] = [];
  for (const [position, entry] of scenario.entries.entries()) {
    if (!isReplay(entry)) {
      entries.push(entry);
      continue;
    }
    const { recording, speed, spread } = entry.parameters;
    const asked = { protocol, speed: Number(speed), spreadMs: Number(spread) };
    const replay = await openReplay(folder, String(recording), asked);
    opened.set(position, replay);
    const { lengthMs, steps, tracks } = replay;
    notes.push(...replay.notes, ...fitNotes(scenario, replay, asked.spreadMs, t));
    const { clients } = tracks;
    const parameters = { ...entry.parameters, sessionInterval: lengthMs, clients, steps };
    entries.push({ ...entry, parameters });
  }
  const read = { ...scenario, entries };
  refuseTooMany(read);
  return {
    scenario: read,
    withTracks: (plan) => ({
      ...plan,
      entries: plan.entries.map((entry, position) => {
        const replay = opened.get(position);
        return replay === undefined ? entry : { ...entry, tracks: replay.tracks };
      }),
    }),
    notes,
  };
}

function fitNotes(
  { connections, entries, warmupMs, singleStepDurationMs }: Scenario,
  { lengthMs, steps, tracks: { clients, itemsOf } }: OpenedReplay,
  spreadMs: number,
  t: Translate,
): string[] {
  const notes: string[] = [];
  if (entries.length === 1) notes.push(...clientNotes(connections, clients, t));
  const heard = listCalls(sessionStepsOf({ steps })).filter(
    ({ step }) => step.kind === 'on',
  ).length;
  const times = Math.floor(connections / clients);
  // Items of streams reach their caller alone.
  if (times > 1 && heard > new Set(itemsOf.filter((number) => number >= 0)).size)
    notes.push(
      t(
        'The {0} replays of a client are all in the rooms that were recorded: a message can reach {0} times as many clients as then. import makes a scenario whose rooms keep their size.',
        formatCount(times),
      ),
    );
  if (warmupMs > 0)
    notes.push(
      t(
        'The first {0} of a replay are warm-up: sent, but not counted. Set config.warmup to 0s to count them.',
        formatDurationMs(warmupMs),
      ),
    );
  const neededMs = lengthMs + (connections > clients ? spreadMs : 0);
  const hasMs = warmupMs + singleStepDurationMs;
  if (hasMs < neededMs)
    notes.push(
      t(
        'A replay takes {0}, the step {1}: what is due later is not sent. Set config.singleStepDuration.',
        formatDurationMs(neededMs),
        formatDurationMs(hasMs),
      ),
    );
  return notes;
}

function clientNotes(connections: number, clients: number, t: Translate): string[] {
  const rest = connections % clients;
  if (rest === 0) return [];
  const left = clients - connections;
  const own =
    connections === 1 ? t('{0} connection', '1') : t('{0} connections', formatCount(connections));
  const values = [own, formatCount(clients), formatCount(left > 0 ? left : rest)] as const;
  if (left === 1)
    return [t('{0} for {1} recorded clients: the last one is not replayed.', ...values)];
  if (left > 0)
    return [t('{0} for {1} recorded clients: the last {2} are not replayed.', ...values)];
  return [
    rest === 1
      ? t(
          '{0} for {1} recorded clients: the first one is replayed once more than the others.',
          ...values,
        )
      : t(
          '{0} for {1} recorded clients: the first {2} are replayed once more than the others.',
          ...values,
        ),
  ];
}

/** Each call of each connection is a source. @throws ExpectedError `replay-connections` */
function refuseTooMany({ connections, entries }: Scenario): void {
  const calls = entries.reduce(
    (sum, { parameters }) => sum + listCalls(sessionStepsOf(parameters)).length,
    0,
  );
  if (calls * connections <= maxSources) return;
  const most = Math.floor(maxSources / calls);
  throw new ExpectedError(
    'replay-connections',
    `The recording has ${formatCount(calls)} methods and callbacks, with which at most ${formatCount(most)} connections are possible; these are ${formatCount(connections)}.`,
  );
}
