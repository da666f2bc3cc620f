/** Checks of sessions: what they need, their groups, and what of them can be counted. */
import { formatDurationMs } from '../../base/units';
import {
  audienceOfStep,
  callsOf,
  joinsByCalls,
  pausesOf,
  sessionStepsOf,
  usesGroup,
  type SessionStep,
} from '../../usecases/sessionSteps';
import { hubRunOf } from '../../usecases/useCase';
import type { ScenarioFile } from '../read/buildScenario';
import type { ReadEntry } from '../read/readEntries';
import { missingFix } from './checkEntries';

export function checkSession(file: ScenarioFile, read: ReadEntry): void {
  const { useCase, entry, parameters } = read;
  const { session } = hubRunOf(useCase, entry.parameters);
  if (session === undefined) return;
  const moving = file.entries.find(
    (other) => hubRunOf(other.useCase, other.entry.parameters).othersMove === true,
  );
  if (session.joins && moving !== undefined) {
    const message = `Calls of the session join groups, which cannot run beside ${moving.useCase.name}: run them one after the other.`;
    file.error('mix-groups', read.at('steps'), message);
  }
  const missing: Readonly<Record<string, string>> = session.replays
    ? { recording: 'a file that record has written' }
    : {
        sessionInterval: 'how often each sender begins a session',
        steps: 'what one user does, step after step',
      };
  for (const [name, words] of Object.entries(missing)) {
    if (parameters.written.has(name)) continue;
    const message = `${useCase.name} needs the parameter ${name}: ${words}.`;
    const fix = missingFix(file, read, name, useCase.starting![name]!);
    file.error('missing-key', read.at(), message, fix);
  }
  if (session.replays) return;
  const steps = sessionStepsOf(entry.parameters);
  checkReceivers(file, read, steps);
  checkShared(file, read, steps);
  reportShortStay(file, read, steps);
  reportRise(file, read);
}

function checkReceivers(
  { error, config, scenario: { connections } }: ScenarioFile,
  { at }: ReadEntry,
  steps: readonly SessionStep[],
): void {
  const audiences = callsOf(steps).map(({ step }) => audienceOfStep(step));
  if (audiences.includes('everyone') && usesGroup(steps)) {
    const message =
      'A session whose calls reach everyone has no {group}: write the calls with a group, and those to everyone, as two sessions of a mix.';
    error('receivers', at('steps'), message);
  }
  if (!audiences.includes('client') || connections > 1) return;
  const message =
    'A call of the session goes to another connection, and there is only one. Write at least 2 connections.';
  error('nothing-sent', config.at('connections') ?? at('steps'), message, '2');
}

/** Sessions that share groups have as many of them, and one of them joins. */
function checkShared(
  { error, info, entries }: ScenarioFile,
  { at, entry }: ReadEntry,
  steps: readonly SessionStep[],
): void {
  const { sharedGroups: name, groupCount } = entry.parameters;
  if (name === undefined) return;
  const place = at('sharedGroups');
  const sharing = entries.filter((other) => other.entry.parameters['sharedGroups'] === name);
  const [{ entry: first }] = sharing as [ReadEntry];
  const { groupCount: wanted } = first.parameters;
  if (!usesGroup(steps)) {
    const message =
      'sharedGroups means nothing in a session without groups: put {group} into the arguments of its calls, or remove it.';
    error('missing-placeholder', place, message);
  } else if (groupCount !== wanted) {
    const such = wanted === undefined ? '' : `, such as ${wanted}`;
    const message = `Sessions that share groups have as many of them: write the same groupCount in all of them${such}.`;
    error('group-count', at('groupCount', 'sharedGroups'), message);
  }
  if (first !== entry) return;
  if (sharing.length === 1)
    info('no-effect', place, 'No other session shares these groups. Write the same name there.');
  if (sharing.some((other) => joinsByCalls(sessionStepsOf(other.entry.parameters)))) return;
  const message =
    'Nobody is in these groups: shared groups have the members that join by a call. Write a step with group: join in one of the sessions, or remove sharedGroups, and all connections are in the groups of each session.';
  error('nobody-joins', place, message);
}

/** Where a call that joins and one that leaves stand in one list, with no pause between. */
function reportShortStay(
  { info }: ScenarioFile,
  { at }: ReadEntry,
  steps: readonly SessionStep[],
): void {
  if (!callsOf(steps).some(({ step }) => audienceOfStep(step) === 'group')) return;
  const change = (step: SessionStep): string => (step.kind === 'call' ? step.group : 'none');
  const joins = steps.findIndex((step) => change(step) === 'join');
  const leaves = steps.findIndex((step, index) => index > joins && change(step) === 'leave');
  if (joins < 0 || leaves < 0 || pausesOf(steps.slice(joins, leaves)) > 0) return;
  const message =
    'The session leaves its group without a pause, so it is not known who gets what is sent to the group meanwhile: it counts as leaving, not as expected. Write a wait before the call that leaves.';
  info('short-stay', at('steps'), message);
}

/** Senders begin one after the other: said once, of the sessions that take longest to be there. */
function reportRise(
  { info, config, entries, scenario }: ScenarioFile,
  { entry, parameters }: ReadEntry,
): void {
  const { warmupMs, singleStepDurationMs } = scenario;
  const intervalOf = (one: ReadEntry['entry']): number =>
    Number(one.parameters['sessionInterval'] ?? 0);
  const intervalMs = intervalOf(entry);
  const longest = entries.map((read) => read.entry).sort((a, b) => intervalOf(b) - intervalOf(a));
  // That an interval is longer than the step is said elsewhere.
  if (warmupMs >= intervalMs || intervalMs > singleStepDurationMs || longest[0] !== entry) return;
  const [interval, warmup] = [formatDurationMs(intervalMs), formatDurationMs(warmupMs)];
  const rise =
    warmupMs === 0
      ? 'and the load is measured while it rises'
      : `of which only the first ${warmup} are warm-up`;
  const message = `Senders begin their sessions one after the other within ${interval}, ${rise}. With warmup: ${interval} the whole load is there when measuring begins.`;
  info('rising-load', config.at('warmup') ?? parameters.at('sessionInterval'), message);
}
