import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deferred } from '../../base/async';
import { english, jsonDocument } from '../../base/text';
import { ExpectedError } from '../../base/expectedError';
import { formatDurationMs, formatUtcTime } from '../../base/units';
import { verdictSentence } from '../../measure/show/verdictSentence';
import type { BaselineRequest, FoundBaseline } from '../../results/compare/baseline';
import type { Override } from '../../scenario/read/overrides';
import { openInFolder } from '../../results/safeFiles';
import type { Result } from '../../results/result';
import { scenarioCopy } from '../../results/scenarioCopy';
import { missingForScenario } from '../../engine/lead/machineLimits';
import { usualCounterFile } from '../../scenario/read/buildScenario';
import type { Scenario } from '../../scenario/scenario';
import { prepareRun, type PreparedRun, type RunParts } from '../../run/prepareRun';
import { type FinishedRun, runSession, type RunSession } from '../../run/runSession';
import type { StopReason } from '../../engine/lead/run';
import { readNamedFile, type ScenarioParser } from '../../run/scenarioFile';
import type { LiveOutputs } from '../../run/export/liveOutputs';
import type { RunRequest, Saying, Shell } from '../../run/shell';
import type { SearchKind } from '../../base/searchSummary';
import { exitCodeForResult, SignalError, type EndingSignal } from '../exitCode';
import { canColour, canRedraw, referenceValue, widthOf, type ProcessIo } from '../io';
import { onDemand } from '../loadOnDemand';
import type { ReplayFlags } from '../onDemand';
import { loadScenario } from '../scenarioOf';
import { paintAll, printable } from '../views/line';
import type { RunTitle, RunView } from '../views/runView';
import { writeRequestedReports, reportBeginning, type ReportFlags } from './runReports';
import type { AgentRun, OnFlags } from './onHosts';
import type { ClusterFlags } from './onKubernetes';

interface RunFlags extends OnFlags, ClusterFlags, ReplayFlags, ReportFlags {
  readonly target?: string;
  readonly set?: readonly Override[];
  readonly out?: string;
  readonly json?: boolean;
  readonly seed?: number;
  readonly workers?: number;
  readonly processes?: number;
  readonly repeat?: number;
  readonly keepGoing?: boolean;
  readonly yes?: boolean;
  readonly search?: boolean | SearchKind;
  readonly budget?: string;
  readonly precision?: string;
  /** `last`, `best`, `kept`, or the place of a result. */
  readonly baseline?: string;
  readonly tolerance?: number;
  readonly metricsPort?: number;
  readonly otlp?: string;
}

export interface RunDeps extends RunParts {
  readonly parseScenario: ScenarioParser;
  readonly serverScript: string;
}

/** Runs a scenario; the exit code is its verdict. @throws ExpectedError for what keeps it from starting */
export async function runCommand(
  file: string,
  flags: RunFlags,
  io: ProcessIo,
  deps: RunDeps,
): Promise<number> {
  await reportBeginning(file, flags, io);
  const overrides = overridesOf(flags);
  const alsoWrong = (wrong: Scenario) => missingForScenario(wrong, deps);
  const { replayedScenario, withSizeProblems } = await onDemand();
  const made = await replayedScenario(file, flags, io);
  const parse = withSizeProblems(deps.parseScenario);
  const read = await loadScenario({ file, overrides, made }, io, parse, alsoWrong);
  const folder = path.dirname(path.resolve(io.cwd, file));
  if (read.scenario.kind === 'resultparser') {
    const { resultFilePath = usualCounterFile } = read.scenario;
    const { importCounters } = await onDemand();
    return importCounters(path.resolve(folder, resultFilePath), flags, io, () =>
      openInFolder(folder, resultFilePath),
    );
  }
  if (flags.on === 'kubernetes') {
    const { runOnKubernetes } = await onDemand();
    return runOnKubernetes(read, overrides, flags, io, deps);
  }
  const directory = path.resolve(io.cwd, flags.out ?? '.signalr-bench');
  const found = await baselineOf(flags, directory, read, io);
  const request = requestOf(read, { overrides, directory, earlier: found?.result }, flags);
  const stop = stopOnSignal(io);
  const shown: Shown = { folder, flags, stop, serverScript: deps.serverScript };
  const shell = await shellOf(shown, io);
  let outputs: LiveOutputs | undefined;
  let agents: AgentRun | undefined;
  try {
    const { createLiveView, createPlainView, gatherHosts } = await onDemand();
    outputs = await openOutputs(flags, shell, io);
    if (flags.on !== undefined) {
      const asked = { scenario: read.scenario, request, deps };
      agents = await gatherHosts(asked, flags, shell, io, stop);
    }
    const parts = { ...deps, ...agents?.parts };
    const prepared = await prepareRun(read.scenario, request, agents?.shell ?? shell, parts);
    outputs?.begin(prepared);
    const createView = canRedraw(io) ? createLiveView : createPlainView;
    shown.view = createView(io.stderr, titleOf(prepared), canColour(io));
    const { publisher } = agents ?? {};
    publisher?.title({
      ...{ file: read.name, text: scenarioCopy(read.text, overrides), url: prepared.target.url },
      startedAt: prepared.startedAt.toISOString(),
    });
    const session = await runSession(prepared, shell, parts);
    session.onSnapshot((snapshot) => {
      outputs?.update(snapshot);
      publisher?.snapshot(snapshot);
    });
    session.onResult((result) => {
      outputs?.finish(result);
      publisher?.result(result);
    });
    const finished = await watch(session, shown, stop);
    await print(finished, flags, io);
    await writeRequestedReports(reported(finished, found?.why, io), session.snapshots, flags, io);
    return exitCodeForResult(finished.result, stop.signal());
  } catch (error) {
    agents?.failed(error);
    throw error;
  } finally {
    await outputs?.close();
    await agents?.dispose();
    stop.dispose();
  }
}

function requestOf(
  { name, text }: { readonly name: string; readonly text: string },
  by: {
    readonly overrides: readonly Override[];
    readonly directory: string;
    readonly earlier: Result | undefined;
  },
  { tolerance, keepGoing }: RunFlags,
): RunRequest {
  const { overrides, directory, earlier } = by;
  return {
    ...{ title: name, text, overrides, directories: [directory] },
    baseline: earlier && { result: earlier, tolerance },
    otherFolder: 'Name another folder with --out.',
    spareDirectory: path.join(tmpdir(), `signalr-bench-${randomUUID()}`),
    keepGoing: keepGoing === true,
  };
}

async function openOutputs(
  { metricsPort, otlp }: RunFlags,
  { say }: Pick<Shell, 'say'>,
  { stderr }: ProcessIo,
): Promise<LiveOutputs | undefined> {
  if (metricsPort === undefined && otlp === undefined) return undefined;
  const { openLiveOutputs } = await onDemand();
  const outputs = await openLiveOutputs({ metricsPort, otlp }, (text) => say('warning', text));
  if (outputs.url !== undefined) stderr.write(`metrics   ${outputs.url}\n`);
  return outputs;
}

/** @throws ExpectedError where it cannot be read or compared */
async function baselineOf(
  { baseline: which, tolerance }: RunFlags,
  directory: string,
  { name, scenario }: { readonly name: string; readonly scenario: Scenario },
  { cwd, env, stderr }: ProcessIo,
): Promise<FoundBaseline | undefined> {
  if (which === undefined) {
    if (tolerance === undefined) return undefined;
    throw new ExpectedError(
      'flag-without-effect',
      '--tolerance belongs to a comparison: name the earlier run with --baseline. Nothing was started.',
    );
  }
  const { findBaseline, isBaselineKeyword, listFirstFew } = await onDemand();
  const place = isBaselineKeyword(which) ? which : path.resolve(cwd, which);
  const reference: BaselineRequest['reference'] = (kind, name) => referenceValue(env, kind, name);
  const question = { which: place, directory, scenarioName: name, scenario, reference };
  const found = await findBaseline(question);
  const { passedOver = [] } = found.result ? found : {};
  const over = passedOver.length === 0 ? '' : `; passed over: ${listFirstFew(passedOver)}`;
  // Scenarios with one file name share results: say which it is.
  const note = found.result
    ? `baseline: ${found.result.id}, started ${formatUtcTime(found.result.startedAt)}${over}.`
    : `${found.why}${found.lookedIn === undefined ? '' : ` (results in ${found.lookedIn})`}; nothing is compared.`;
  stderr.write(`note: ${printable(note)}\n`);
  return found;
}

/** After `--set`, so that these flags win. */
function overridesOf(flags: RunFlags): Override[] {
  const { set = [], target, seed, workers, processes, repeat, agents, search } = flags;
  const { budget, precision } = flags;
  const named = {
    ...{ 'config.target': target, 'config.seed': seed, 'config.workers': workers },
    ...{ 'config.processes': processes, 'config.repeat': repeat, 'config.agents': agents },
    ...(search === true && { search: '' }),
    ...(search === false && { search: 'false' }),
    ...(typeof search === 'string' && { 'search.of': search }),
    ...(search !== false && { 'search.budget': budget, 'search.precision': precision }),
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return [...set, ...given.map(([path, value]) => ({ path, value: String(value) }))];
}

interface Shown extends Pick<RunDeps, 'serverScript'> {
  readonly folder: string;
  readonly flags: RunFlags;
  readonly stop: SignalStop;
  view?: RunView | undefined;
}

async function shellOf(shown: Shown, io: ProcessIo): Promise<Shell> {
  const { folder, serverScript } = shown;
  const { env, stderr, now } = io;
  const write = (text: string): void =>
    shown.view ? shown.view.message(text) : stderr.write(`${printable(text)}\n`);
  const say: Readonly<Record<Saying, (text: string) => void>> = {
    note: (text) => write(`note: ${text}`),
    warning: (text) => write(`warning: ${text}`),
    server: (text) => write(`warning: ${text}`),
    stack: (text) => stderr.write(`${text}\n`),
    unstored: (text) =>
      write(`warning: ${`${text} The result is not saved: this output is its only copy.`.trim()}`),
  };
  return {
    context: {
      reference: (kind, name) => referenceValue(env, kind, name),
      serverScript,
      readFile: (name, mostBytes) => readNamedFile(folder, name, mostBytes),
      ...{ folder, commandFolder: folder },
    },
    ...(shown.flags.yes !== true && {
      confirm: async (asked, scenario) => (await onDemand()).confirmLoad(asked, scenario, io),
      also: (await onDemand()).contactsOfFlags(shown.flags, io),
    }),
    waiting: (url, withinMs) =>
      stderr.write(
        `waiting for ${printable(url)} to answer, for at most ${formatDurationMs(withinMs)}\n`,
      ),
    say: (what, text) => say[what](text),
    t: english,
    startTime: now,
    calledOff: shown.stop.signalled,
  };
}

const titleOf = ({ request, scenario, plan, target }: PreparedRun): RunTitle => ({
  file: path.basename(request.title),
  url: target.url,
  scenario,
  dialect: plan.dialect,
  ...(target.emulated === true && { emulated: target.emulated }),
});

async function watch(session: RunSession, shown: Shown, stop: SignalStop): Promise<FinishedRun> {
  const { view } = shown;
  session.onSnapshot((snapshot) => view?.update(snapshot));
  session.onEnd(() => {
    view?.close();
    shown.view = undefined;
  });
  stop.handle((times) => {
    if (times <= 2) session.stop(stop.reason());
    view?.message(
      times === 1
        ? 'Stopping; what was measured is kept. Once more closes at once.'
        : 'Closing at once.',
    );
  });
  return session.finished;
}

async function print(
  { result, folder }: FinishedRun,
  { json }: RunFlags,
  io: ProcessIo,
): Promise<void> {
  const { stdout, stderr, cwd } = io;
  const shown = folder === undefined ? undefined : path.relative(cwd, folder) || folder;
  if (json) {
    stdout.write(jsonDocument(result));
    stderr.write(`${printable(verdictSentence(result))}\n`);
    if (result.baseline) stderr.write(`baseline  ${printable(result.baseline.sentence)}\n`);
    if (shown !== undefined) stderr.write(`result    ${shown}\n`);
    return;
  }
  const { finalScreen } = await onDemand();
  stdout.write(paintAll(finalScreen(result, widthOf(stdout), shown), canColour(io)));
}

const reported = (
  { result, folder = '' }: FinishedRun,
  why: string | undefined,
  { cwd }: ProcessIo,
) => ({
  ...{ kind: 'result' as const, path: folder || cwd, result, notCompared: why },
});

type SignalStop = ReturnType<typeof stopOnSignal>;

function stopOnSignal(io: Pick<ProcessIo, 'onSignal'>) {
  let first: EndingSignal | undefined;
  let times = 0;
  let reason: StopReason = 'interrupted';
  let handler: ((times: number, signal: EndingSignal) => void) | undefined;
  const { promise: signalled, reject: giveUp } = deferred<never>();
  const got = (signal: EndingSignal): void => {
    first ??= signal;
    giveUp(new SignalError(first));
    times += 1;
    handler?.(times, signal);
  };
  const subscription = io.onSignal(got);
  return {
    signal: () => first,
    stopped: (why: StopReason) => {
      reason = why;
      got('SIGINT');
    },
    reason: () => reason,
    next: () =>
      new Promise<EndingSignal>((resolve) => {
        handler = (_times, signal) => resolve(signal);
      }),
    /** Rejects with a {@link SignalError} at the first signal. */
    signalled,
    /** Calls the listener at each signal from now on, with their count. */
    handle(listener: (times: number) => void): void {
      times = 0;
      handler = listener;
    },
    dispose: () => subscription.dispose(),
  };
}
