import type * as vscode from 'vscode';
import { Emitter } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import { scenarioEstimate } from '../../capacity/estimate';
import type { Snapshot } from '../../measure/snapshot';
import { buildRunPlan } from '../../plan/buildPlan';
import type { PanelResult, PanelRun, PanelSpectrum } from '../../messages/panel';
import { completeResult, redactScenario } from '../../results/completeResult';
import { findBaseline } from '../../results/compare/baseline';
import { writeCounterFile } from '../../results/counters/counterFile';
import type { Result } from '../../results/result';
import { machineLimits, missingForRun, missingForScenario } from '../../engine/lead/machineLimits';
import type { StopReason } from '../../engine/lead/run';
import { startRun } from '../../engine/lead/startRun';
import { notRunnable } from '../../scenario/check/notRunnable';
import { parseScenario } from '../../scenario/parseScenario';
import type { Scenario } from '../../scenario/scenario';
import { prepareRun, type PreparedRun, type RunParts } from '../../run/prepareRun';
import { readScenario } from '../../run/scenarioFile';
import { runSession, type RunSession } from '../../run/runSession';
import type { RunRequest, Shell } from '../../run/shell';
import { openTarget } from '../../targets/openTarget';
import { redirectHosts, detectHubTraits } from '../../wire/connect/probeHub';
import type { ClusterPlace } from '../editorState';
import { spectraOf, toPanelResult, type PanelSource } from '../panel/panelSession';

export interface EditorShell extends Shell {
  readonly workerScript: string;
  runAgain(id: string): void;
  openScenario(folder: string): void;
  copySummary(result: Result | undefined): void;
  /** @param why a baseline exists but is not compared */
  notCompared(why: string): void;
}

/** Starts a run; undefined when the user declines. @throws ExpectedError for all that prevents it */
export async function startEditorRun(
  request: RunRequest,
  shell: EditorShell,
): Promise<EditorRun | undefined> {
  const scenario = await readScenario(request, parseScenario, undefined, missingForScenario);
  const parts: RunParts = {
    notRunnable,
    machineLimits,
    missingForRun,
    buildPlan: buildRunPlan,
    openTarget,
    askHub: detectHubTraits,
    redirectHosts,
    startRun,
    writeCounters: writeCounterFile,
    completeResult: async (...run) => completeResult(...run),
    workerScript: shell.workerScript,
  };
  try {
    const baseline = await baselineOf(request, scenario, shell);
    const prepared = await prepareRun(scenario, { ...request, baseline }, shell, parts);
    return new EditorRun(panelRunOf(prepared), await runSession(prepared, shell, parts), shell);
  } catch (error) {
    if (error instanceof ExpectedError && error.code === 'not-confirmed') return undefined;
    throw error;
  }
}

/** The baseline of the scenario, if one is comparable; the log says why not. */
export async function baselineOf(
  { directories, title }: RunRequest,
  scenario: Scenario,
  shell: EditorShell,
): Promise<RunRequest['baseline']> {
  const [directory] = directories;
  if (directory === undefined) return undefined;
  try {
    const question = { which: 'kept', directory, scenarioName: title, scenario };
    const { result, why, lookedIn } = await findBaseline(question);
    if (result !== undefined) return { result };
    if (lookedIn === undefined) shell.notCompared(why);
  } catch (error) {
    // A moved or damaged baseline does not prevent a run.
    if (!(error instanceof ExpectedError)) throw error;
    shell.notCompared(error.message);
  }
  return undefined;
}

export type FollowedRun = Pick<
  RunSession,
  'folder' | 'snapshots' | 'onSnapshot' | 'onResult' | 'finished' | 'stop'
>;

/** A run that continues in a cluster when this window closes. */
export interface RunInCluster {
  readonly run: string;
  readonly cluster: ClusterPlace;
  readonly key?: string | undefined;
}

export class EditorRun implements PanelSource {
  readonly interrupted = false;
  /** Settles when the result is stored, as far as possible, and the target closed. */
  readonly finished: Promise<Result>;
  result: PanelResult | undefined;
  spectra: readonly PanelSpectrum[] = [];
  readonly onSnapshot: PanelSource['onSnapshot'];
  private readonly finishedEmitter = new Emitter<PanelResult>();
  readonly onFinished = this.finishedEmitter.event;
  private stored: Result | undefined;
  readonly orders: PanelSource['orders'] = {
    stop: () => this.stop(),
    runAgain: () => this.shell.runAgain(this.run.id),
    openScenario: () => this.shell.openScenario(this.folder),
    copySummary: () => this.shell.copySummary(this.stored),
  };

  constructor(
    readonly run: PanelRun,
    private readonly session: FollowedRun,
    private readonly shell: Pick<EditorShell, 't' | 'runAgain' | 'openScenario' | 'copySummary'>,
    readonly elsewhere?: RunInCluster,
  ) {
    this.onSnapshot = session.onSnapshot;
    session.onResult((result) => {
      this.stored = result;
      this.result = toPanelResult(result, shell.t);
      this.spectra = spectraOf(result);
      this.finishedEmitter.fire(this.result);
    });
    this.finished = session.finished.then(({ result }) => result);
  }

  get folder(): string {
    return this.session.folder;
  }

  get snapshots(): readonly Snapshot[] {
    return this.session.snapshots;
  }

  stop(reason: StopReason = 'stopped'): void {
    this.session.stop(reason);
  }
}

function panelRunOf(prepared: PreparedRun): PanelRun {
  const { folder, plan, request, scenario, startedAt, target } = prepared;
  return {
    ...describeRun(scenario, startedAt),
    id: folder.id,
    title: request.title,
    targetUrl: target.url,
    dialect: plan.dialect,
    emulated: target.emulated,
  };
}

export function describeRun(scenario: Scenario, startedAt: Date) {
  const found = scenarioEstimate(scenario);
  const isKnown = 'estimate' in found;
  return {
    startedAt: startedAt.toISOString(),
    scenario: redactScenario(scenario),
    estimate: isKnown ? found.estimate : null,
    estimateProblem: isKnown ? undefined : found.problem,
  };
}

const storageKey = 'signalrBenchmark.clusterRuns';
const mostKeys = 20;

type Entry = readonly [run: string, key: string];

const isEntry = (value: unknown): value is Entry =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');

/** Bus keys of unfinished cluster runs, in secret storage: they find a run without the right to read Secrets. */
export class BusKeys {
  constructor(private readonly storage: Pick<vscode.SecretStorage, 'get' | 'store'>) {}

  async get(run: string): Promise<string | undefined> {
    return (await this.all()).get(run);
  }

  async set(run: string, key: string): Promise<void> {
    const keys = await this.all();
    keys.delete(run);
    await this.store([...keys, [run, key]]);
  }

  async delete(run: string): Promise<void> {
    const keys = await this.all();
    if (keys.delete(run)) await this.store([...keys]);
  }

  private async store(keys: readonly Entry[]): Promise<void> {
    await this.storage.store(storageKey, JSON.stringify(keys.slice(-mostKeys)));
  }

  private async all(): Promise<Map<string, string>> {
    try {
      const stored: unknown = JSON.parse((await this.storage.get(storageKey)) ?? '[]');
      return new Map(Array.isArray(stored) ? stored.filter(isEntry) : []);
    } catch {
      // Moved or unreadable storage: the run is found by its Secret then.
      return new Map();
    }
  }
}
