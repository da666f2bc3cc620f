import { Emitter } from '../base/event';
import { ExpectedError } from '../base/expectedError';
import { estimate } from '../capacity/estimate';
import { loadOf } from '../capacity/loadOf';
import type { Snapshot } from '../measure/snapshot';
import type { Plan } from '../plan/plan';
import type { PanelResult, PanelRun, PanelSpectrum } from '../protocol/panel';
import { completeResult } from '../results/completeResult';
import { redactScenario, redactText } from '../results/redact';
import type { Result } from '../results/result';
import { ResultFolder } from '../results/resultFolder';
import { scenarioCopy, type SetKey } from '../results/scenarioCopy';
import { toolVersion } from '../results/toolVersion';
import { planForMachine } from '../runner/planForMachine';
import { refuseOtherDialect } from '../runner/refuseOtherDialect';
import type { Run, StopReason } from '../runner/run';
import { startRun } from '../runner/startRun';
import { parseScenario } from '../scenario/parseScenario';
import type { Scenario } from '../scenario/scenario';
import { openTarget } from '../targets/registry';
import type { OpenTarget, TargetContext } from '../targets/target';
import { toPanelResult } from './panel/toPanelResult';
import { spectraOf } from './panel/spectra';
import type { PanelSource } from './panelSource';

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
  confirm(target: OpenTarget, scenario: Scenario): Promise<boolean>;
  warn(message: string): void;
  runAgain(): void;
  openScenario(): void;
  copySummary(result: Result | undefined): void;
}

/** More snapshots than a panel can draw apart: beyond, every second of them goes. */
const mostSnapshots = 20_000;

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
  const plan = await planForMachine(scenario);
  const target = await openTarget(scenario, host.context);
  try {
    if (!target.loopback && !(await host.confirm(target, scenario))) {
      await target.dispose();
      return undefined;
    }
    await refuseOtherDialect(target, scenario);
    const folder = await createFolder(request, host);
    return new RunSession({ request, scenario, plan, target, folder }, host);
  } catch (error) {
    await target.dispose();
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

async function createFolder(
  { directories, title, text, overrides }: RunRequest,
  host: RunHost,
): Promise<ResultFolder> {
  for (const [position, directory] of directories.entries()) {
    try {
      return await ResultFolder.create({
        directory,
        scenarioName: title,
        scenarioText: scenarioCopy(text, overrides),
        startedAt: new Date(),
        onWarning: (message) => host.warn(message),
      });
    } catch (error) {
      const last = position === directories.length - 1;
      if (last || !(error instanceof ExpectedError)) throw error;
      // A read-only workspace: the run is worth more than the place of its result.
      host.warn(error.message.replace(' Name another folder with --out.', ''));
    }
  }
  throw new Error('a run needs a folder for its result');
}

interface Started {
  readonly request: RunRequest;
  readonly scenario: Scenario;
  readonly plan: Plan;
  readonly target: OpenTarget;
  readonly folder: ResultFolder;
}

/** A run that was started from the editor, from its first connection to its stored result. */
export class RunSession implements PanelSource {
  readonly run: PanelRun;
  /** Path of the result folder. */
  readonly folder: string;
  readonly interrupted = false;
  /** Settles when the result is stored and the target closed; undefined when a defect ended the run. */
  readonly finished: Promise<Result | undefined>;
  result: PanelResult | undefined;
  spectra: readonly PanelSpectrum[] = [];
  private readonly kept: Snapshot[] = [];
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
    const { folder, plan, request, scenario, target } = started;
    this.folder = folder.path;
    this.run = {
      id: folder.id,
      title: request.title,
      targetUrl: target.url,
      startedAt: new Date().toISOString(),
      scenario: redactScenario(scenario),
      ...estimated(scenario),
    };
    this.running = startRun(plan, target, { workerScript: host.workerScript });
    this.running.onSnapshot((snapshot) => this.take(snapshot));
    this.finished = this.follow();
  }

  get snapshots(): readonly Snapshot[] {
    return this.kept;
  }

  stop(reason: StopReason = 'stopped'): void {
    this.running.stop(reason);
  }

  runAgain(): void {
    this.host.runAgain();
  }

  openScenario(): void {
    this.host.openScenario();
  }

  copySummary(): void {
    this.host.copySummary(this.stored);
  }

  private take(snapshot: Snapshot): void {
    this.started.folder.appendSample(snapshot);
    if (this.kept.length >= mostSnapshots) {
      const thinned = this.kept.filter((_each, position) => position % 2 === 0);
      this.kept.splice(0, this.kept.length, ...thinned);
    }
    this.kept.push(snapshot);
    this.snapshotEmitter.fire(snapshot);
  }

  private async follow(): Promise<Result | undefined> {
    const { folder, scenario, target } = this.started;
    try {
      const summary = await this.running.finished;
      if (summary.endingStack !== undefined) this.host.warn(redactText(summary.endingStack));
      const result = completeResult(summary, scenario, { id: folder.id, toolVersion });
      await folder.writeResult(result);
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

function estimated(scenario: Scenario): Pick<PanelRun, 'estimate' | 'estimateProblem'> {
  const load = loadOf(scenario);
  if ('problem' in load) return { estimate: null, estimateProblem: load.problem };
  try {
    return { estimate: estimate(load.input) };
  } catch (error) {
    if (error instanceof ExpectedError) return { estimate: null, estimateProblem: error.message };
    throw error;
  }
}
