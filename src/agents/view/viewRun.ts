import { deferred, inBackground, type Disposable, Emitter } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import { parseResult, parseSample } from '../../results/readResult';
import type { Result } from '../../results/result';
import { type Bus, LogWriter } from '../bus/bus';
import {
  readViewMessage,
  type RunTitle,
  runSubjects,
  usualSilenceMs,
  type RunSubjects,
  cutForBus,
  encodeMessage,
  type ViewContent,
  type ViewMessage,
} from '../messages';
import type { StopReason } from '../../engine/lead/run';

/** Characters of a result per message: the bus takes 1 MB. */
const partLength = 200_000;
const keptMs = 10 * 60_000;

/** Shows a run on the bus, for viewers now or later. */
export class RunPublisher {
  private readonly writer: LogWriter;
  private readonly answering: readonly Disposable[];
  private readonly stopEmitter = new Emitter<StopReason>();
  private isStopped = false;
  readonly onStop = this.stopEmitter.event;
  private readonly viewed = deferred();

  constructor(bus: Bus, subjects: RunSubjects) {
    this.writer = new LogWriter(bus, subjects.view, 'view');
    // From the start: a viewer may be done before `seen` is called.
    this.answering = [
      bus.answer(subjects.seen, () => {
        this.viewed.resolve();
        return '';
      }),
      bus.answer(subjects.stop, (reason) => {
        if (reason !== 'stopped' && reason !== 'interrupted') return undefined;
        if (!this.isStopped) this.stopEmitter.fire(reason);
        this.isStopped = true;
        return '';
      }),
    ];
  }

  gathered(nodes: readonly string[], agents: number): void {
    this.say({ type: 'gathered', nodes, agents });
  }

  title(title: RunTitle): void {
    this.say({ type: 'title', ...title });
  }

  snapshot(snapshot: Snapshot): void {
    this.say({ type: 'snapshot', snapshot: JSON.stringify(snapshot) }, false);
  }

  result(result: Result): void {
    const text = JSON.stringify(result);
    for (let at = 0; at < text.length; at += partLength) {
      const isLast = at + partLength >= text.length;
      this.say({
        type: 'result',
        isFirst: at === 0,
        isLast,
        text: text.slice(at, at + partLength),
      });
    }
  }

  failed(text: string): void {
    this.say({ type: 'failed', text: cutForBus(text) });
  }

  /** Settles with whether a viewer had the end in time. */
  async seen(withinMs = keptMs): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), withinMs);
    });
    const published = this.writer.empty(withinMs);
    const wasSeen = await Promise.race([
      late,
      published.then(() => this.viewed.promise.then(() => true)),
    ]);
    clearTimeout(timer);
    for (const answering of this.answering) answering.dispose();
    this.writer.stop();
    return wasSeen;
  }

  /** After the bus lost the log: sends title and result again, not the snapshots. */
  renewed(): void {
    this.writer.again();
  }

  private say(message: ViewContent, isKept = true): void {
    this.writer.add(
      (number) => encodeMessage({ number, ...message } satisfies ViewMessage),
      isKept,
    );
  }
}

interface RunViewer {
  gathered?(nodes: readonly string[], agents: number): void;
  unseen?(): void;
  title(title: RunTitle): void;
  snapshot(snapshot: Snapshot): void;
}

const mostLength = 64 * 1024 * 1024;
const answerWithinMs = 2000;
const unseenAfterMs = 10_000;

/**
 * Shows a run from its start and gives its result.
 * @param left rejects when the viewer leaves; the run goes on
 * @throws ExpectedError `run-failed`, `run-lost`, `run-missing`, `run-id`, `result-damaged`
 */
export async function viewRun(
  bus: Bus,
  run: string,
  viewer: RunViewer,
  left?: Promise<never>,
  quietMs = unseenAfterMs,
): Promise<Result> {
  const subjects = runSubjects(run);
  const { promise: whole, resolve: give, reject: fail } = deferred<string>();
  let text = '';
  let seen = 0;
  const see = (said: string): void => {
    const message = readViewMessage(said);
    if (message === undefined || message.number <= seen) return;
    seen = message.number;
    if (message.type === 'gathered') viewer.gathered?.(message.nodes, message.agents);
    else if (message.type === 'title') viewer.title(message);
    else if (message.type === 'snapshot') {
      const snapshot = parseSample(message.snapshot);
      if (snapshot !== undefined) viewer.snapshot(snapshot);
    } else if (message.type === 'result') {
      text = message.isFirst ? message.text : text + message.text;
      if (text.length > mostLength)
        fail(new ExpectedError('run-failed', 'The result is too long.'));
      if (message.isLast) give(text);
    } else fail(new ExpectedError('run-failed', message.text));
  };
  const following = await bus.follow(subjects.log, subjects.view, see).catch(() => {
    throw new ExpectedError(
      'run-missing',
      `There is no run ${run} on the bus. One that is over is gone: its result is in the folder that it was started in.`,
    );
  });
  const quiet = setTimeout(() => {
    if (seen === 0) viewer.unseen?.();
  }, quietMs);
  const watching = watchLead(bus, subjects, () =>
    fail(
      new ExpectedError(
        'run-lost',
        `The process that led run ${run} was lost: nothing was heard of it for ${usualSilenceMs / 1000} s. Its agents stop by themselves.`,
      ),
    ),
  );
  try {
    const result = await (left ? Promise.race([whole, left]) : whole);
    await bus.ask(subjects.seen, '', answerWithinMs);
    return parseResult(result, `The result of run ${run}`);
  } catch (error) {
    if (isRunOver(error)) await bus.ask(subjects.seen, '', answerWithinMs);
    throw error;
  } finally {
    clearTimeout(quiet);
    watching.dispose();
    following.dispose();
  }
}

/** The run ended without a result. */
export const isRunOver = (error: unknown): error is ExpectedError =>
  error instanceof ExpectedError && ['run-failed', 'run-lost'].includes(error.code);

const leadLookEveryMs = 1000;
/** A longer gap between looks: this process was stopped, or the machine slept. */
const deafMs = 2 * leadLookEveryMs;

/** Calls `lost` once, after the coordinator has been silent for as long as agents wait. */
export function watchLead(
  bus: Bus,
  { alive, log }: RunSubjects,
  lost: () => void,
  silenceMs = usualSilenceMs,
): Disposable {
  let silentMs = 0;
  let lookedMs = performance.now();
  let isOver = false;
  const hearing = bus.hear(alive, () => {
    silentMs = 0;
  });
  const look = async (): Promise<void> => {
    const nowMs = performance.now();
    const passedMs = nowMs - lookedMs;
    lookedMs = nowMs;
    if (bus.isConnected && passedMs <= deafMs) silentMs += passedMs;
    if (silentMs < silenceMs) return;
    // The link may be broken unnoticed: then the bus does not answer either.
    const isThere = await bus.hasLog(log).catch(() => undefined);
    if (isThere === undefined) silentMs = 0;
    else if (silentMs >= silenceMs && !isOver) {
      end();
      lost();
    }
  };
  const timer = setInterval(() => inBackground(look()), leadLookEveryMs);
  const end = (): void => {
    isOver = true;
    clearInterval(timer);
    hearing.dispose();
  };
  return { dispose: end };
}
