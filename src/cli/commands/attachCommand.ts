import path from 'node:path';
import { jsonDocument } from '../../base/text';
import { verdictSentence } from '../../measure/show/verdictSentence';
import type { RunTitle } from '../../machines/messages';
import type { Bus } from '../../machines/bus/bus';
import { viewRun } from '../../machines/view/viewRun';
import type { Result } from '../../results/result';
import { ResultFolder } from '../../results/resultFolder';
import { readScenario, type ScenarioParser } from '../../session/scenarioFile';
import { exitCodeOfResult, SignalError } from '../exitCode';
import { canColour, canRedraw, widthOf, type ProcessIo } from '../io';
import { openBus, type BusFlags } from '../openBus';
import { finalScreen } from '../views/finalScreen';
import { paintAll, printable } from '../views/line';
import { createLiveView, createPlainView, type RunView } from '../views/runView';

export interface ShowFlags {
  /** Folder that result folders are made in. */
  readonly out: string;
  readonly json?: boolean;
}

export type AttachFlags = BusFlags & ShowFlags;

export interface AttachDeps {
  readonly parseScenario: ScenarioParser;
}

/** Shows a run that goes on elsewhere, and keeps its result here; the exit code is that of the run. */
export async function attachCommand(
  run: string,
  flags: AttachFlags,
  io: ProcessIo,
  deps: AttachDeps,
): Promise<number> {
  const bus = await openBus(flags, io, 'signalr-bench attach');
  try {
    return await showRun(bus, run, flags, io, deps);
  } finally {
    await bus.close();
  }
}

/** Shows a run of a bus to its end; a signal leaves it. */
export async function showRun(
  bus: Bus,
  run: string,
  flags: ShowFlags,
  io: ProcessIo,
  deps: AttachDeps,
): Promise<number> {
  let leave: (error: SignalError) => void = () => undefined;
  const left = new Promise<never>((_resolve, reject) => {
    leave = reject;
  });
  // Nobody may be waiting when the signal comes.
  left.catch(() => undefined);
  const subscription = io.onSignal((signal) => leave(new SignalError(signal)));
  let seen: Promise<SeenRun> | undefined;
  /** One after the other: what is shown and kept begins with the title. */
  let showing = Promise.resolve();
  const viewer = {
    title: (title: RunTitle) => {
      seen ??= SeenRun.begin(title, flags, io, deps);
      showing = seen.then(
        () => undefined,
        () => undefined,
      );
    },
    snapshot: (...snapshot: Parameters<SeenRun['snapshot']>) => {
      showing = showing.then(async () => (await seen)?.snapshot(...snapshot));
    },
  };
  try {
    const result = await viewRun(bus, run, viewer, left);
    await showing;
    if (seen === undefined) throw new Error('a run without a title');
    return await (await seen).finish(result);
  } catch (error) {
    (await seen)?.close();
    if (error instanceof SignalError)
      io.stderr.write(`The run goes on; look at it again: attach ${printable(run)}\n`);
    throw error;
  } finally {
    subscription.dispose();
    await (await seen)?.folder.dispose();
  }
}

/** A run as it is shown and kept here. */
class SeenRun {
  private constructor(
    readonly folder: ResultFolder,
    private readonly view: RunView,
    private readonly flags: ShowFlags,
    private readonly io: ProcessIo,
  ) {}

  /** @throws ExpectedError `result-folder`, `scenario-problems` */
  static async begin(
    { file, text, startedAt, url }: RunTitle,
    flags: ShowFlags,
    io: ProcessIo,
    { parseScenario }: AttachDeps,
  ): Promise<SeenRun> {
    const { stderr, cwd } = io;
    const title = path.basename(file);
    const scenario = await readScenario({ title, text, overrides: [] }, parseScenario);
    const folder = await ResultFolder.create({
      directory: path.resolve(cwd, flags.out),
      scenarioName: title,
      scenarioText: text,
      startedAt: new Date(startedAt),
      onWarning: (message) => stderr.write(`warning: ${printable(message)}\n`),
    });
    const shown = { file: title, url, scenario };
    const view = canRedraw(io)
      ? createLiveView(stderr, shown, canColour(io))
      : createPlainView(stderr, shown);
    return new SeenRun(folder, view, flags, io);
  }

  snapshot(snapshot: Parameters<RunView['update']>[0]): void {
    this.view.update(snapshot);
    this.folder.appendSample(snapshot);
  }

  close(): void {
    this.view.close();
  }

  async finish(found: Result): Promise<number> {
    const { folder, io, flags } = this;
    const { stdout, stderr, cwd } = io;
    this.close();
    const result = { ...found, id: folder.id };
    const isKept = await folder.writeResult(result);
    const shown = isKept ? path.relative(cwd, folder.path) : undefined;
    if (flags.json === true) {
      stdout.write(jsonDocument(result));
      stderr.write(`${printable(verdictSentence(result))}\n`);
    } else stdout.write(paintAll(finalScreen(result, widthOf(stdout), shown), canColour(io)));
    return exitCodeOfResult(result);
  }
}
