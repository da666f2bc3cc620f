import { ExpectedError } from '../base/expectedError';
import { isAzure } from '../base/serviceTraits';
import type { RunSummary } from '../measure/summary';
import type { Plan } from '../plan/plan';
import type { CompleteOptions } from '../results/completeResult';
import type { writeCounterFile } from '../results/counters/counterFile';
import type { Result } from '../results/result';
import { ResultFolder } from '../results/resultFolder';
import { scenarioCopy } from '../results/scenarioCopy';
import { withPayloadFile } from '../engine/prepare/payloadFiles';
import { planForMachine, type PlanDeps } from '../engine/lead/machineLimits';
import type { Run } from '../engine/lead/run';
import type { StepSource } from '../engine/lead/stepSource';
import type { Scenario } from '../scenario/scenario';
import {
  withIdentities,
  type OpenTarget,
  type TargetContext,
  type IdentityCalls,
} from '../targets/target';
import { refuseIdentityCalls } from './agentFiles';
import { createRedirectQuestion, contactsBeyond, createRunQuestion, listReach } from './reach';
import { askTarget, type AskedTarget, type TargetQuestions } from './askTarget';
import type { ObserveContext, Observer } from './observe/openObserver';
import { isReplay, refuseReplays } from './scenarioFile';
import type { RunRequest, Shell } from './shell';
import type { Endpoint } from '../base/endpoint';
import type { Translate } from '../base/text';
import { formatCount } from '../base/units';

/** Tests put fakes in its place; bundles load on demand. */
export interface RunParts extends PlanDeps, Omit<TargetQuestions, 'waiting'> {
  readonly openTarget: (scenario: Scenario, context: TargetContext) => Promise<OpenTarget>;
  readonly startRun: (
    plan: Plan,
    target: OpenTarget,
    deps: {
      readonly workerScript: string;
      readonly keepGoing: boolean;
      readonly askedMs: number;
      readonly steps?: StepSource;
    },
  ) => Run | Promise<Run>;
  readonly completeResult: (
    summary: RunSummary,
    scenario: Scenario,
    options: CompleteOptions,
  ) => Promise<Result>;
  readonly writeCounters: typeof writeCounterFile;
  readonly workerScript: string;
}

export interface PreparedRun extends AskedTarget {
  readonly request: RunRequest;
  readonly scenario: Scenario;
  readonly folder: ResultFolder;
  readonly observer?: Observer;
  readonly startedAt: Date;
  dispose(): Promise<void>;
}

/**
 * Everything before the load: plan, files, consent, target, dialect and result folder. Nothing stays open on failure.
 * @throws ExpectedError for what keeps it from starting; `not-confirmed` after a no; what `calledOff` rejects with
 */
export async function prepareRun(
  given: Scenario,
  request: RunRequest,
  shell: Shell,
  parts: RunParts,
): Promise<PreparedRun> {
  // A first run needs no target: the embedded hub is used.
  const asked: Scenario = { target: { kind: 'local' }, ...given };
  const { calledOff, confirm, context, waiting } = shell;
  const { agents = 1 } = asked;
  if (parts.agents !== undefined) refuseIdentityCalls(asked);
  if (parts.agents !== undefined || agents > 1) refuseReplays(asked);
  if (agents > 1 && parts.agents === undefined)
    throw new ExpectedError(
      'agents',
      `The scenario asks for ${agents} agents: start it with \`--on hosts\` or \`--on kubernetes\` on the command line, or set config.agents to 1.`,
    );
  const replays = asked.entries.some(isReplay)
    ? await (await import('./replays.js')).openReplays(asked, { ...context, t: shell.t })
    : undefined;
  for (const note of replays?.notes ?? []) shell.say('note', note);
  const scenario = replays?.scenario ?? asked;
  const agree =
    confirm &&
    ((hosts: readonly string[]) =>
      confirm(createRedirectQuestion(scenario, context, hosts), scenario));
  const bare = await planForMachine(scenario, {
    ...parts,
    reference: (kind, name) => context.reference(kind, name),
  });
  const planned = await withPayloadFile(replays?.withTracks(bare) ?? bare, (name) =>
    context.readFile(name),
  );
  if (shell.isAgreed !== true) await unlessCalledOff(calledOff, agreeToRun(scenario, shell));
  const opened = await unlessCalledOff(calledOff, parts.openTarget(scenario, context), (late) =>
    late.dispose(),
  );
  let observer: Observer | undefined;
  try {
    const { askHub, redirectHosts } = parts;
    const { identityCalls } = opened;
    const ready = async (target: OpenTarget): Promise<OpenTarget> =>
      identityCalls
        ? { ...target, endpoint: withIdentities(target.endpoint, await identityCalls.first()) }
        : target;
    const questions = { askHub, redirectHosts, ready, waiting };
    const answered = await unlessCalledOff(calledOff, askTarget(opened, planned, agree, questions));
    if (!answered) throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
    if (answered.target.notice !== undefined) shell.say('note', answered.target.notice);
    if (identityCalls) await unlessCalledOff(calledOff, askForAll(identityCalls, shell));
    const { endpoint } = answered.target;
    const identities = identityCalls?.current.length;
    for (const note of describeRowReuse(endpoint, identities, scenario.connections, shell.t))
      shell.say('note', note);
    observer = await openScenarioObserver(scenario, shell);
    const startedAt = shell.startTime();
    const folder = await unlessCalledOff(
      calledOff,
      createFirstWritableFolder(request, startedAt, shell),
      (late) => late.dispose(),
    );
    const dispose = async (): Promise<void> => {
      observer?.close();
      await folder.dispose();
      await opened.dispose();
    };
    return {
      ...{ ...answered, request, folder, startedAt, dispose, observer },
      scenario: withService(scenario, answered),
    };
  } catch (error) {
    observer?.close();
    await opened.dispose();
    throw error;
  }
}

/** The service behind the hub counts for Units. */
const withService = (scenario: Scenario, { service }: Pick<AskedTarget, 'service'>): Scenario =>
  service === undefined || isAzure(scenario.service) ? scenario : { ...scenario, service };

/** @param late releases a value that comes after the run was called off */
async function unlessCalledOff<T>(
  calledOff: Promise<never> | undefined,
  work: Promise<T>,
  late: (value: T) => unknown = () => undefined,
): Promise<T> {
  try {
    return await (calledOff ? Promise.race([work, calledOff]) : work);
  } catch (error) {
    work.then(late, () => undefined);
    throw error;
  }
}

/** A read-only folder does not stop the run. */
export async function createFirstWritableFolder(
  request: RunRequest,
  startedAt: Date,
  shell: Pick<Shell, 'say' | 't'>,
): Promise<ResultFolder> {
  const refusals: string[] = [];
  for (const directory of request.directories) {
    const made = await tryCreateFolder(directory, request, startedAt, shell);
    if (typeof made !== 'string') {
      const [why, where] = [refusals.join(' '), made.path];
      if (why !== '')
        shell.say('warning', shell.t('{0} The result is written to {1} instead.', why, where));
      return made;
    }
    refusals.push(made);
  }
  const { otherFolder = [] } = request;
  throw new ExpectedError('result-folder', refusals.concat(otherFolder).join(' '));
}

/** @returns a sentence where it cannot be made */
export async function tryCreateFolder(
  directory: string,
  { title, text, overrides }: RunRequest,
  startedAt: Date,
  shell: Pick<Shell, 'say'>,
): Promise<ResultFolder | string> {
  try {
    return await ResultFolder.create({
      directory,
      scenarioName: title,
      scenarioText: scenarioCopy(text, overrides),
      startedAt,
      onWarning: (message) => shell.say('warning', message),
    });
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
}

/** Loads the observer on demand. @throws ExpectedError `missing-reference` */
export async function openScenarioObserver(
  scenario: Scenario,
  { context, say, t }: Pick<Shell, 'say' | 't'> & { readonly context: ObserveContext },
): Promise<Observer | undefined> {
  if (scenario.observe === undefined) return undefined;
  const { openObserver } = await import('./observe/openObserver.js');
  return openObserver(scenario, context, { warn: (text) => say('warning', text), t });
}

const sayEveryMs = 5000;

async function askForAll(
  calls: IdentityCalls,
  { say, t }: Pick<Shell, 'say' | 't'>,
): Promise<void> {
  let saidMs = performance.now();
  const problem = await calls.all((done, count) => {
    const nowMs = performance.now();
    if (nowMs - saidMs < sayEveryMs) return;
    saidMs = nowMs;
    say('note', t('{0} of {1} identities are made.', formatCount(done), formatCount(count)));
  });
  if (problem !== undefined) say('warning', problem);
}

export function describeRowReuse(
  { personal }: Pick<Endpoint, 'personal'>,
  called: number | undefined,
  connections: number,
  t: Translate,
): string[] {
  const { identities, data } = personal ?? {};
  const rows = identities?.kind === 'rows' ? identities.rows.length : identities?.count;
  const own = called ?? rows;
  const ofData = data?.shared === true ? undefined : data?.rows.length;
  const isFew = (count: number | undefined): count is number =>
    count !== undefined && count < connections;
  const values = (count: number): [string, string] => [
    formatCount(connections),
    formatCount(count),
  ];
  const notes: string[] = [];
  if (isFew(own))
    notes.push(
      own === 1
        ? t('{0} connections share {1} identity.', ...values(own))
        : t(
            '{0} connections share {1} identities: after the last comes the first.',
            ...values(own),
          ),
    );
  if (isFew(ofData))
    notes.push(
      ofData === 1
        ? t('{0} connections share {1} row of data.', ...values(ofData))
        : t(
            '{0} connections share {1} rows of data: after the last comes the first.',
            ...values(ofData),
          ),
    );
  return notes;
}

/** Asks before anything is contacted or executed. @throws ExpectedError `not-confirmed` */
export async function agreeToRun(
  scenario: Scenario,
  { confirm, context, also }: Pick<Shell, 'confirm' | 'context' | 'also'>,
): Promise<void> {
  if (confirm === undefined) return;
  const reach = listReach(scenario, context, { also: also ?? [] });
  const isQuiet = reach.programs.length === 0 && contactsBeyond(reach).length === 0;
  if (isQuiet && scenario.unlikeRecording === undefined) return;
  if (!(await confirm(createRunQuestion(scenario, reach), scenario)))
    throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
}
