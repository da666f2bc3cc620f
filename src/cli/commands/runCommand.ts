import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { formatDurationMs } from '../../base/units';
import type { Plan } from '../../plan/plan';
import type { CompleteOptions } from '../../results/completeResult';
import { redactText } from '../../results/redact';
import type { Result } from '../../results/result';
import { ResultFolder } from '../../results/resultFolder';
import { scenarioCopy, type SetKey } from '../../results/scenarioCopy';
import { toolVersion } from '../../results/toolVersion';
import { askTarget, type TargetQuestions } from '../../session/askTarget';
import type { LoadBeyond } from '../../targets/loadBeyond';
import {
  missingForScenario,
  planForMachine,
  type PlanDeps,
} from '../../runner/lead/planForMachine';
import { withPayloadFile } from '../../runner/lead/payloadFiles';
import type { Run } from '../../runner/lead/run';
import type { RunSummary } from '../../measure/show/summary';
import { verdictSentence } from '../../measure/judge/verdictSentence';
import type { Scenario } from '../../scenario/scenario';
import type { OpenTarget, TargetContext } from '../../targets/target';
import { confirmLoad } from './confirmLoad';
import { exitCodeOfResult } from '../exitCode';
import { jsonDocument } from '../../base/visibleText';
import { paintAll, printable } from '../views/line';
import { lazyCommands } from '../loadLazyCommands';
import { createPlainView } from '../views/plainView';
import { referenceValue } from '../referenceValue';
import type { RunView } from '../views/runView';
import { readScenarioFile } from '../../session/scenarioFile';
import { scenarioOf, type ScenarioParser } from '../scenarioOf';
import { stopOnSignal, type SignalStop } from '../signalStop';
import { canColour, canRedraw, widthOf, type Surroundings } from '../surroundings';

export interface RunFlags {
  readonly target?: string;
  readonly set?: readonly SetKey[];
  /** Folder of all results. */
  readonly out?: string;
  readonly json?: boolean;
  readonly seed?: number;
  readonly workers?: number;
  /** A step that fails does not end the run. */
  readonly keepGoing?: boolean;
  /** Load on another machine needs no confirmation. */
  readonly yes?: boolean;
}

/** What a run is made of; tests put fakes in its place. */
export interface RunDeps extends PlanDeps, Omit<TargetQuestions, 'waiting'> {
  readonly parseScenario: ScenarioParser;
  readonly openTarget: (scenario: Scenario, context: TargetContext) => Promise<OpenTarget>;
  readonly startRun: (
    plan: Plan,
    target: OpenTarget,
    deps: {
      readonly workerScript: string;
      readonly keepGoing: boolean;
      readonly askedMs: number;
    },
  ) => Run;
  readonly completeResult: (
    summary: RunSummary,
    scenario: Scenario,
    options: CompleteOptions,
  ) => Promise<Result>;
  /** Script of a worker thread. */
  readonly workerScript: string;
  /** Script that runs `serve hub`. */
  readonly serverScript: string;
}

/**
 * Runs a scenario file: checks everything that can be checked first, asks where load leaves this
 * machine, shows the run, and keeps and prints its result. The exit code says how it was judged.
 *
 * @throws ExpectedError for everything that keeps a run from starting
 */
export async function runCommand(
  file: string,
  flags: RunFlags,
  surroundings: Surroundings,
  deps: RunDeps,
): Promise<number> {
  const overrides = overridesOf(flags);
  const read = await scenarioOf(file, overrides, surroundings, deps.parseScenario, (wrong) =>
    missingForScenario(wrong, deps),
  );
  if (read.scenario.kind === 'resultparser') {
    const { resultFilePath = 'counters.txt' } = read.scenario;
    const folder = path.dirname(path.resolve(surroundings.cwd, file));
    const { importCommand } = await lazyCommands();
    return importCommand(path.resolve(folder, resultFilePath), flags, surroundings);
  }
  // Without a target the embedded hub is used, so that a first run needs nothing else.
  const scenario: Scenario = { target: { kind: 'local' }, ...read.scenario };
  const agree = (beyond: LoadBeyond): Promise<boolean> =>
    confirmLoad(beyond, scenario, surroundings);
  const asks = flags.yes !== true;
  const context = { ...contextOf(file, surroundings, deps), ...(asks && { agree }) };
  const plan = await withPayloadFile(await planForMachine(scenario, deps), (name) =>
    context.readFile(name),
  );
  const stop = stopOnSignal(surroundings);
  try {
    const opened = await stop.unlessSignalled(
      deps.openTarget(scenario, context),
      (late) => void late.dispose(),
    );
    try {
      // A hub may take its time, or never answer.
      const asked = await stop.unlessSignalled(
        askTarget(opened, plan, asks ? agree : undefined, {
          ...deps,
          waiting: (url, withinMs) => surroundings.stderr.write(waitingText(url, withinMs)),
        }),
        () => undefined,
      );
      if (!asked) throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
      const { target, askedMs } = asked;
      if (target.notice !== undefined)
        surroundings.stderr.write(`note: ${printable(target.notice)}\n`);
      const prepared = { file, flags, scenario, plan: asked.plan, askedMs, stop };
      return await runOn(target, prepared, surroundings, deps, () =>
        scenarioCopy(read.text, overrides),
      );
    } finally {
      await opened.dispose();
    }
  } finally {
    stop.dispose();
  }
}

/** Flags that stand for a key come after `--set`, so that they win. */
function overridesOf({ set = [], target, seed, workers }: RunFlags): SetKey[] {
  const named: [string, string | number | undefined][] = [
    ['config.target', target],
    ['config.seed', seed],
    ['config.workers', workers],
  ];
  return [
    ...set,
    ...named.flatMap(([path, value]) =>
      value === undefined ? [] : [{ path, value: String(value) }],
    ),
  ];
}

function contextOf(file: string, { env, cwd }: Surroundings, deps: RunDeps): TargetContext {
  const folder = path.dirname(path.resolve(cwd, file));
  return {
    reference: (kind, name) => referenceValue(env, kind, name),
    serverScript: deps.serverScript,
    readFile: (name) => readScenarioFile(path.resolve(folder, name)),
  };
}

interface Prepared {
  readonly file: string;
  readonly flags: RunFlags;
  readonly scenario: Scenario;
  readonly plan: Plan;
  readonly askedMs: number;
  readonly stop: SignalStop;
}

const waitingText = (url: string, withinMs: number): string =>
  `waiting for ${printable(url)} to answer, for at most ${formatDurationMs(withinMs)}\n`;

async function runOn(
  target: OpenTarget,
  { file, flags, scenario, plan, askedMs, stop }: Prepared,
  surroundings: Surroundings,
  deps: RunDeps,
  scenarioText: () => string,
): Promise<number> {
  const { stdout, stderr, cwd } = surroundings;
  const out = path.resolve(cwd, flags.out ?? '.signalr-bench');
  let view: RunView | undefined;
  const warn = (message: string): void =>
    view ? view.message(`warning: ${message}`) : stderr.write(`warning: ${printable(message)}\n`);
  const folder = await ResultFolder.create({
    directory: out,
    scenarioName: file === '-' ? 'stdin' : file,
    scenarioText: scenarioText(),
    startedAt: surroundings.now(),
    onWarning: warn,
  });
  try {
    stop.throwIfSignalled();
    const title = {
      ...{ file: path.basename(file), url: target.url, scenario, dialect: plan.dialect },
      ...(target.emulated === true && { emulated: target.emulated }),
    };
    view = canRedraw(surroundings)
      ? (await lazyCommands()).createLiveView(stderr, title, canColour(surroundings))
      : createPlainView(stderr, title);
    const summary = await watch(
      deps.startRun(plan, target, {
        workerScript: deps.workerScript,
        keepGoing: flags.keepGoing === true,
        askedMs,
      }),
      view,
      folder,
      stop,
    );
    view = undefined;
    if (summary.endingStack !== undefined) stderr.write(`${redactText(summary.endingStack)}\n`);
    const result = await deps.completeResult(summary, scenario, { id: folder.id, toolVersion });
    const written = await folder.writeResult(result);
    if (written && scenario.resultFilePath !== undefined) {
      const { writeCounters } = await lazyCommands();
      await writeCounters(folder.path, result, warn);
    }
    const shown = written ? path.relative(cwd, folder.path) || folder.path : undefined;
    if (flags.json) {
      stdout.write(jsonDocument(result));
      stderr.write(`${printable(verdictSentence(result))}\n`);
      if (shown !== undefined) stderr.write(`result    ${shown}\n`);
    } else {
      const { finalScreen } = await lazyCommands();
      stdout.write(paintAll(finalScreen(result, widthOf(stdout), shown), canColour(surroundings)));
    }
    return exitCodeOfResult(result, stop.signal());
  } finally {
    await folder.dispose();
  }
}

/** Shows and keeps the snapshots of a run until it is over; signals end it in order. */
async function watch(
  run: Run,
  view: RunView,
  folder: ResultFolder,
  stop: SignalStop,
): Promise<RunSummary> {
  let told: string | undefined;
  const subscription = run.onSnapshot((snapshot) => {
    folder.appendSample(snapshot);
    view.update(snapshot);
    const { problem } = snapshot;
    if (problem !== undefined && problem !== told) view.message(`warning: ${redactText(problem)}`);
    told = problem;
  });
  stop.handle((times) => {
    if (times <= 2) run.stop('interrupted');
    view.message(
      times === 1
        ? 'Stopping; what was measured is kept. Once more closes at once.'
        : 'Closing at once.',
    );
  });
  try {
    return await run.finished;
  } finally {
    subscription.dispose();
    view.close();
  }
}
