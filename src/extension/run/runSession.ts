import { Emitter } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import { scenarioEstimate } from '../../capacity/scenarioEstimate';
import type { Snapshot } from '../../measure/show/snapshot';
import { HeldSnapshots } from '../../measure/show/thinSnapshots';
import type { RunSummary } from '../../measure/show/summary';
import type { PanelResult, PanelRun, PanelSpectrum } from '../../protocol/panel';
import { writeCounters } from '../../results/counters/counterFile';
import { completeResult } from '../../results/completeResult';
import { redactScenario, redactText } from '../../results/redact';
import type { Result } from '../../results/result';
import { ResultFolder } from '../../results/resultFolder';
import { scenarioCopy, type SetKey } from '../../results/scenarioCopy';
import { toolVersion } from '../../results/toolVersion';
import { askTarget, type AskedTarget, type TargetQuestions } from '../../session/askTarget';
import type { LoadBeyond } from '../../targets/loadBeyond';
import { planForMachine } from '../../runner/lead/planForMachine';
import { withPayloadFile } from '../../runner/lead/payloadFiles';
import type { Run, StopReason } from '../../runner/lead/run';
import { startRun } from '../../runner/lead/startRun';
import { parseScenario } from '../../scenario/parseScenario';
import type { Scenario } from '../../scenario/scenario';
import { openTarget } from '../../targets/registry';
import type { TargetContext } from '../../targets/target';
import { askHub } from '../../wire/connect/probeHub';
import { redirectHosts } from '../../wire/connect/redirectHosts';
import { toPanelResult } from '../panel/toPanelResult';
import { spectraOf } from '../panel/spectra';
import type { PanelSource } from '../panelSource';
import type { Translate } from '../translate';

/** What to run. */
export interface RunRequest {
  /** File name of the scenario. */
  readonly title: string;
  readonly text: string;
  /** Keys that replace those of the text for this run. */
  readonly overrides: readonly SetKey[];
  /** Folders for the result: the first that can be written is taken. */
  readonly directories: readonly string[];
}

/** What a run needs from the editor. */
export interface RunHost {
  readonly context: TargetContext;
  /** Script of a worker thread. */
  readonly workerScript: string;
  /** Settles with false when load on these hosts is not wanted. */
  confirm(beyond: LoadBeyond, scenario: Scenario): Promise<boolean>;
  /** Shows that a target is silent, until it is not waited for any more. */
  readonly waiting?: NonNullable<TargetQuestions['waiting']>;
  warn(message: string): void;
  readonly t: Translate;
  /** When a run starts; later than the starts of the runs before it. */
  startTime(): Date;
  /** @param id of the run that is over */
  runAgain(id: string): void;
  /** @param folder that of the run's result, with the copy of the scenario */
  openScenario(folder: string): void;
  copySummary(result: Result | undefined): void;
}

/**
 * Checks, opens and starts a run: the same way as on the command line. Undefined when the person did not
 * confirm it.
 *
 * @throws ExpectedError for everything that keeps it from starting
 */
export async function startSession(
  request: RunRequest,
  host: RunHost,
): Promise<RunSession | undefined> {
  const scenario = scenarioOf(request);
  const plan = await withPayloadFile(await planForMachine(scenario), (name) =>
    host.context.readFile(name),
  );
  const agree = (beyond: LoadBeyond): Promise<boolean> => host.confirm(beyond, scenario);
  const opened = await openTarget(scenario, { ...host.context, agree }).catch((error: unknown) => {
    if (error instanceof ExpectedError && error.code === 'not-confirmed') return undefined;
    throw error;
  });
  if (opened === undefined) return undefined;
  try {
    const asked = await askTarget(opened, plan, agree, { ...host, askHub, redirectHosts });
    if (!asked) {
      await opened.dispose();
      return undefined;
    }
    const { notice } = asked.target;
    if (notice !== undefined) host.warn(notice);
    const startedAt = host.startTime();
    const folder = await createFolder(request, startedAt, host);
    return new RunSession({ request, scenario, ...asked, folder, startedAt }, host);
  } catch (error) {
    await opened.dispose();
    throw error;
  }
}

function scenarioOf({ text, title, overrides }: RunRequest): Scenario {
  const { scenario, problems } = parseScenario(text, { overrides });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (!scenario || errors.length > 0) {
    const first = errors[0]?.message ?? 'It holds no scenario.';
    throw new ExpectedError('scenario-problems', `${title} has errors to correct first. ${first}`);
  }
  // Without a target the embedded hub is used, so that a first run needs nothing else.
  return { target: { kind: 'local' }, ...scenario };
}

/** A read-only workspace or a full disk: the run is worth more than the place of its result. */
async function createFolder(
  { directories, title, text, overrides }: RunRequest,
  startedAt: Date,
  host: Pick<RunHost, 'warn' | 't'>,
): Promise<ResultFolder> {
  const refusals: string[] = [];
  for (const directory of directories) {
    try {
      const folder = await ResultFolder.create({
        directory,
        scenarioName: title,
        scenarioText: scenarioCopy(text, overrides),
        startedAt,
        onWarning: (message) => host.warn(message),
      });
      if (refusals.length > 0)
        host.warn(host.t('{0} It goes to {1} instead.', refusals.join(' '), folder.path));
      return folder;
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      refusals.push(error.message.replace(' Name another folder with --out.', ''));
    }
  }
  throw new ExpectedError('result-folder', refusals.join(' '));
}

interface Started extends AskedTarget {
  readonly request: RunRequest;
  readonly scenario: Scenario;
  readonly folder: ResultFolder;
  readonly startedAt: Date;
}

/** A run that was started from the editor, from its first connection to its stored result. */
export class RunSession implements PanelSource {
  readonly run: PanelRun;
  /** Path of the result folder. */
  folder: string;
  readonly interrupted = false;
  /** Settles when the result is stored and the target closed; undefined when a defect ended the run. */
  readonly finished: Promise<Result | undefined>;
  result: PanelResult | undefined;
  spectra: readonly PanelSpectrum[] = [];
  private readonly kept = new HeldSnapshots();
  private readonly snapshotEmitter = new Emitter<Snapshot>();
  private readonly finishedEmitter = new Emitter<PanelResult>();
  readonly onSnapshot = this.snapshotEmitter.event;
  readonly onFinished = this.finishedEmitter.event;
  private readonly running: Run;
  private stored: Result | undefined;

  constructor(
    readonly started: Started,
    private readonly host: RunHost,
  ) {
    const { askedMs, folder, plan, request, scenario, startedAt, target } = started;
    this.folder = folder.path;
    this.run = {
      id: folder.id,
      title: request.title,
      targetUrl: target.url,
      startedAt: startedAt.toISOString(),
      scenario: redactScenario(scenario),
      dialect: plan.dialect,
      ...(target.emulated === true && { emulated: target.emulated }),
      ...estimated(scenario),
    };
    this.running = startRun(plan, target, { workerScript: host.workerScript, askedMs });
    this.running.onSnapshot((snapshot) => this.take(snapshot));
    this.finished = this.follow();
  }

  get snapshots(): readonly Snapshot[] {
    return this.kept.all;
  }

  stop(reason: StopReason = 'stopped'): void {
    this.running.stop(reason);
  }

  runAgain(): void {
    this.host.runAgain(this.run.id);
  }

  openScenario(): void {
    this.host.openScenario(this.folder);
  }

  copySummary(): void {
    this.host.copySummary(this.stored);
  }

  private take(snapshot: Snapshot): void {
    this.started.folder.appendSample(snapshot);
    this.kept.add(snapshot);
    this.snapshotEmitter.fire(snapshot);
  }

  /** Writes the result; where its folder is gone or full, everything that was measured goes to a new one. */
  private async store(result: Result): Promise<Result> {
    const { folder, request, startedAt } = this.started;
    if (await this.write(folder, result)) return result;
    let other: ResultFolder | undefined;
    try {
      other = await createFolder(request, startedAt, this.host);
      for (const snapshot of this.kept.all) other.appendSample(snapshot);
      const moved = { ...result, id: other.id };
      if (!(await this.write(other, moved))) return result;
      this.folder = other.path;
      this.host.warn(this.host.t('The result was written to {0} instead.', other.path));
      return moved;
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      this.host.warn(
        this.host.t(
          '{0} It is in the panel until the window closes: copy its summary.',
          error.message,
        ),
      );
      return result;
    } finally {
      await other?.dispose();
    }
  }

  /** Writes result and counters; false when the result cannot be written. */
  private async write(folder: ResultFolder, result: Result): Promise<boolean> {
    if (!(await folder.writeResult(result))) return false;
    await writeCounters(folder.path, result, (message) => this.host.warn(message));
    return true;
  }

  private async follow(): Promise<Result | undefined> {
    const { folder, scenario, target } = this.started;
    try {
      const summary = await this.running.finished;
      if (summary.endingStack !== undefined) this.host.warn(redactText(summary.endingStack));
      const times = timesFrom(this.started.startedAt, summary);
      const of = { id: folder.id, toolVersion };
      const result = await this.store(completeResult({ ...summary, ...times }, scenario, of));
      this.stored = result;
      this.result = toPanelResult(result);
      this.spectra = spectraOf(result);
      this.finishedEmitter.fire(this.result);
      return result;
    } finally {
      await folder.dispose();
      await target.dispose();
    }
  }
}

/** The run's own times, moved so that they begin with the start that its folder is named by. */
function timesFrom(
  start: Date,
  { startedAt, endedAt }: Pick<RunSummary, 'startedAt' | 'endedAt'>,
): Pick<RunSummary, 'startedAt' | 'endedAt'> {
  const elapsedMs = Date.parse(endedAt) - Date.parse(startedAt);
  return {
    startedAt: start.toISOString(),
    endedAt: new Date(start.getTime() + elapsedMs).toISOString(),
  };
}

function estimated(scenario: Scenario): Pick<PanelRun, 'estimate' | 'estimateProblem'> {
  const found = scenarioEstimate(scenario);
  return 'problem' in found
    ? { estimate: null, estimateProblem: found.problem }
    : { estimate: found.estimate };
}
