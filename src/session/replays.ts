/** Replays of recordings, in a bundle of its own: loaded by runs whose scenario has one, and to make such a scenario. */
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { largestSource } from '../base/message';
import { formatCount, formatDurationMs } from '../base/units';
import type { Plan } from '../plan/plan';
import { openReplay, type OpenedReplay } from '../record/replay/openReplay';
import type { Scenario, ScenarioEntry } from '../scenario/scenario';
import type { TargetContext } from '../targets/target';
import { callsOf, sessionStepsOf } from '../usecases/sessionSteps';
import { isReplay } from './isReplay';
export { replayScenario } from '../record/replay/replayScenario';

/** A scenario whose recordings are read. */
export interface Replays {
  /** With what is counted, and how long it takes, among the parameters. */
  readonly scenario: Scenario;
  /** The plan of that scenario with what is sent when. */
  readonly withTracks: (plan: Plan) => Plan;
  /** What people should know before it runs. */
  readonly notes: readonly string[];
}

/** Reads the recordings of a scenario. @throws ExpectedError `replay-connections`, and as `openReplay` */
export async function openReplays(
  scenario: Scenario,
  { folder = '.' }: Pick<TargetContext, 'folder'>,
): Promise<Replays> {
  const { protocol } = scenario;
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
    const replay = await openReplay(path.resolve(folder, String(recording)), asked);
    opened.set(position, replay);
    const { lengthMs, steps, tracks } = replay;
    notes.push(...replay.notes, ...fitNotes(scenario, replay, asked.spreadMs));
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

/** Where connections or time do not fit to the recording. */
function fitNotes(
  { connections, entries, warmupMs, singleStepDurationMs }: Scenario,
  { lengthMs, tracks: { clients } }: OpenedReplay,
  spreadMs: number,
): string[] {
  const notes: string[] = [];
  if (entries.length === 1) notes.push(...clientNotes(connections, clients));
  if (warmupMs > 0)
    notes.push(
      `The first ${formatDurationMs(warmupMs)} of a replay are warm-up: sent, but not counted. Set config.warmup to 0s to count them.`,
    );
  const neededMs = lengthMs + (connections > clients ? spreadMs : 0);
  const hasMs = warmupMs + singleStepDurationMs;
  if (hasMs < neededMs)
    notes.push(
      `A replay takes ${formatDurationMs(neededMs)}, the step ${formatDurationMs(hasMs)}: what is due later is not sent. Set config.singleStepDuration.`,
    );
  return notes;
}

/** Of which clients more or less is replayed than of others. */
function clientNotes(connections: number, clients: number): string[] {
  const rest = connections % clients;
  if (rest === 0) return [];
  const recorded = `${formatCount(clients)} recorded clients`;
  const left = clients - connections;
  if (left > 0)
    return [
      `${formatCount(connections)} ${connections === 1 ? 'connection' : 'connections'} for ${recorded}: ${formatCount(left)} of them ${left === 1 ? 'is' : 'are'} not replayed.`,
    ];
  return [
    `${formatCount(connections)} connections are no multiple of the ${recorded}: the first ${rest === 1 ? 'client is' : `${formatCount(rest)} are`} replayed once more than the others.`,
  ];
}

/** Each call of each connection has counts of its own. @throws ExpectedError `replay-connections` */
function refuseTooMany({ connections, entries }: Scenario): void {
  const calls = entries.reduce(
    (sum, { parameters }) => sum + callsOf(sessionStepsOf(parameters)).length,
    0,
  );
  if (calls * connections <= largestSource) return;
  const most = Math.floor(largestSource / calls);
  throw new ExpectedError(
    'replay-connections',
    `The recording has ${formatCount(calls)} methods and callbacks, with which at most ${formatCount(most)} connections are possible; these are ${formatCount(connections)}.`,
  );
}
