import path from 'node:path';
import { deferred } from '../../base/async';
import { english, jsonDocument } from '../../base/text';
import { verdictSentence } from '../../measure/show/verdictSentence';
import type { Bus } from '../../agents/bus/bus';
import type { FinishedRun } from '../../run/runSession';
import {
  viewSession,
  type ViewedRun,
  type ViewParts,
  type ViewRequest,
  type ViewShell,
} from '../../run/viewedRun';
import { exitCodeForResult, SignalError } from '../exitCode';
import { canColour, canRedraw, widthOf, type ProcessIo } from '../io';
import { openBus, createBusWarning, type BusFlags } from '../openBus';
import { finalScreen } from '../views/finalScreen';
import { paintAll, printable } from '../views/line';
import { createLiveView, createPlainView, type RunView } from '../views/runView';

export interface ShowFlags {
  readonly out: string;
  readonly json?: boolean;
}

export type AttachFlags = BusFlags & ShowFlags;

/** Shows a run that goes on elsewhere and stores its result here; exits with its code. */
export async function attachCommand(
  run: string,
  flags: AttachFlags,
  io: ProcessIo,
  deps: ViewParts,
): Promise<number> {
  const bus = await openBus(flags, io, viewerBusName, createBusWarning(io));
  try {
    return await showRun(bus, run, flags, io, deps);
  } finally {
    await bus.close();
  }
}

export const viewerBusName = 'signalr-bench attach';

/** A signal leaves the run, which goes on. */
export async function showRun(
  bus: Bus,
  run: string,
  flags: ShowFlags,
  io: ProcessIo,
  deps: ViewParts,
): Promise<number> {
  const { promise: left, reject: leave } = deferred<never>();
  const subscription = io.onSignal((signal) => leave(new SignalError(signal)));
  const shown = new ShownRun(flags, io);
  try {
    return shown.finish(await viewSession({ bus, run, left }, shown.request, shown.shell, deps));
  } catch (error) {
    shown.close();
    if (error instanceof SignalError)
      io.stderr.write(`The run goes on; look at it again: attach ${printable(run)}\n`);
    else shown.sayKept();
    throw error;
  } finally {
    subscription.dispose();
  }
}

export class ShownRun {
  readonly request: ViewRequest;
  readonly shell: ViewShell;
  folder: string | undefined;
  private view: RunView | undefined;

  constructor(
    private readonly flags: ShowFlags,
    private readonly io: ProcessIo,
  ) {
    this.request = {
      directories: [path.resolve(io.cwd, flags.out)],
      otherFolder: 'Name another folder with --out.',
    };
    this.shell = {
      t: english,
      say: (_what, text) => this.say(`warning: ${text}`),
      begun: (run) => this.begin(run),
    };
  }

  say(text: string): void {
    if (this.view) this.view.message(text);
    else this.io.stderr.write(`${printable(text)}\n`);
  }

  sayKept(): void {
    if (this.folder !== undefined) this.say(`What was seen of the run is kept in ${this.folder}.`);
  }

  private begin({ request, url, scenario, onSnapshot, folder }: ViewedRun): void {
    const { io } = this;
    this.folder = path.relative(io.cwd, folder.path);
    const shown = { file: request.title, url, scenario };
    const view = canRedraw(io)
      ? createLiveView(io.stderr, shown, canColour(io))
      : createPlainView(io.stderr, shown);
    this.view = view;
    onSnapshot((snapshot) => this.view?.update(snapshot));
  }

  close(): void {
    this.view?.close();
    this.view = undefined;
  }

  /** Shows the last screen. @returns the exit code of the run */
  finish({ result, folder }: FinishedRun, stoppedBy?: unknown): number {
    const { io, flags } = this;
    const { stdout, stderr, cwd } = io;
    this.close();
    const shown = folder === undefined ? undefined : path.relative(cwd, folder);
    if (flags.json === true) {
      stdout.write(jsonDocument(result));
      stderr.write(`${printable(verdictSentence(result))}\n`);
    } else stdout.write(paintAll(finalScreen(result, widthOf(stdout), shown), canColour(io)));
    return exitCodeForResult(
      result,
      stoppedBy instanceof SignalError ? stoppedBy.signal : undefined,
    );
  }
}
