import { ExpectedError } from '../../base/expectedError';
import { sampleOf } from '../../results/readResult';
import type { Bus } from '../bus/bus';
import {
  encode,
  placeOf,
  readBeat,
  readFact,
  readMember,
  readOrder,
  readViewMessage,
  type LedOrder,
  type Member,
  type NumberedOrder,
  type RunOrder,
  type RunSubjects,
} from '../messages';

/** A coordinator gives a sign of life four times a second, and once a second while it waits for agents. */
const silentMs = 5000;
/** One that is being replaced may take half a minute to end. */
const usualWaitMs = 60_000;
const lookEveryMs = 100;

/** What whoever looks at the run has got so far. */
export interface PastView {
  /** Number of the last message, and tick of the last snapshot. */
  readonly last: number;
  readonly tick: number;
  readonly hasTitle: boolean;
  /** Whether they have its result, or why there is none. */
  readonly isOver: boolean;
}

/** See {@link LedOrder}. */
interface TimeKeeper {
  readonly clock?: string | undefined;
  readonly offsetUs: number;
}

/** A run that another process has begun to lead. */
export interface PastRun {
  readonly order: RunOrder;
  readonly members: readonly Member[];
  /** Number of the last order that is known of. */
  readonly orders: number;
  /** Whose clock the time of the run is, or was, and what is added to it. */
  readonly time: TimeKeeper;
  /** Run time of what was reported last, microseconds. */
  readonly reportedUs: number;
  /** Whether one of its agents is there still. */
  readonly isAlive: boolean;
}

export interface Lead {
  /** Subject of the log, taken by this process: what is behind it in the log was said after that. */
  readonly marker: string;
  /** That of whoever takes the lead from this process. */
  readonly successor: string;
  readonly view: PastView;
  /** Absent: nobody had started the run. */
  readonly past: PastRun | undefined;
}

/**
 * Takes the lead of a run, where nobody else has it, with what others have left of it; `held` is called when that has to be
 * found out.
 * @throws ExpectedError `run-led` when another process leads it, or has led it to its end meanwhile
 */
export async function takeLead(
  bus: Bus,
  run: string,
  subjects: RunSubjects,
  held: () => void = () => undefined,
  waitMs = usualWaitMs,
): Promise<Lead> {
  const marker = (number: number): string => `${subjects.leaders}.${number}`;
  const place = (number: number) => ({ marker: marker(number), successor: marker(number + 1) });
  const nobodys: PastView = { last: 0, tick: -1, hasTitle: false, isOver: false };
  if (await bus.claim(marker(1), run)) return { ...place(1), view: nobodys, past: undefined };
  held();
  const beats = new Map<string, number>();
  const hearing = bus.hear(`${subjects.beats}.*`, (text) => {
    const beat = readBeat(text);
    if (beat !== undefined) beats.set(beat.epoch, beat.orders);
  });
  try {
    for (let number = 2; ; number++) {
      await silence(bus, run, subjects, waitMs);
      if (!(await bus.hasLog(subjects.log)))
        throw new ExpectedError(
          'run-led',
          `Run ${run} was led by another process, and is over: give another id with --run.`,
        );
      if (await bus.claim(marker(number), run))
        return { ...place(number), ...(await left(bus, subjects, marker(number), beats)) };
    }
  } finally {
    hearing.dispose();
  }
}

/** Until no coordinator was heard for a while. */
async function silence(
  bus: Bus,
  run: string,
  { alive }: RunSubjects,
  waitMs: number,
): Promise<void> {
  const beganMs = performance.now();
  let heardMs = beganMs;
  const hearing = bus.hear(alive, () => {
    heardMs = performance.now();
  });
  try {
    while (performance.now() - heardMs < silentMs) {
      if (performance.now() - beganMs > waitMs)
        throw new ExpectedError(
          'run-led',
          `Run ${run} is led by another process: give another id with --run.`,
        );
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  } finally {
    hearing.dispose();
  }
}

/** What the log has up to the marker. */
async function left(
  bus: Bus,
  subjects: RunSubjects,
  marker: string,
  beats: ReadonlyMap<string, number>,
): Promise<Pick<Lead, 'view' | 'past'>> {
  const { log, lead, members: places, facts, view: views } = subjects;
  const claims = new Map<number, Member>();
  let order: RunOrder | undefined;
  let time: TimeKeeper | undefined;
  let orders = 0;
  let lastFact = '';
  let view: PastView = { last: 0, tick: -1, hasTitle: false, isOver: false };
  const read = (text: string, subject: string): void => {
    if (subject.startsWith(`${lead}.`)) {
      const given = readOrder(text);
      if (given?.order.type === 'run') order = given.order;
      else if (given?.order.type === 'led') time = keeperOf(given.order) ?? time;
      orders = Math.max(orders, given?.number ?? 0);
    } else if (subject.startsWith(`${places}.`)) {
      const [place, member] = [placeOf(subject, places), readMember(text)];
      if (place !== undefined && member !== undefined && !claims.has(place))
        claims.set(place, member);
    } else if (subject.startsWith(`${facts}.`)) lastFact = text;
    else if (subject === views) view = seenUpTo(view, text);
  };
  let over: () => void = () => undefined;
  const whole = new Promise<void>((resolve) => {
    over = resolve;
  });
  const following = await bus.follow(log, `${log}.>`, (text, subject) => {
    if (subject === marker) over();
    else read(text, subject);
  });
  await whole;
  following.dispose();
  if (order === undefined) return { view, past: undefined };
  // Agents take one place after the other: what stands apart is none of theirs.
  const members: Member[] = [];
  for (let at = 0, own = claims.get(at); own !== undefined; own = claims.get(++at))
    members.push(own);
  // A bus that has lost its file has none of what was taken before.
  const heard = members.map(({ epoch }) => beats.get(epoch));
  const said = readFact(lastFact)?.said;
  const isSample = said !== undefined && 'fact' in said && said.fact.type === 'sampled';
  return {
    view,
    past: {
      ...{ order, members },
      orders: Math.max(orders, ...heard.map((each) => each ?? 0)),
      time: time ?? { clock: order.clock, offsetUs: 0 },
      reportedUs: isSample ? said.fact.sample.atUs : 0,
      isAlive: heard.some((each) => each !== undefined),
    },
  };
}

const keeperOf = ({ clock, offsetUs }: LedOrder): TimeKeeper | undefined =>
  offsetUs === undefined ? undefined : { clock, offsetUs };

/**
 * Gives the first order of who leads a run on. An order that another process had on its way meanwhile has its place before
 * it; one that comes later finds its place taken, and is kept from everybody.
 * @param last that is known of
 * @returns its number
 */
export async function giveFirst(
  bus: Bus,
  { lead }: RunSubjects,
  last: number,
  order: LedOrder,
): Promise<number> {
  for (let number = last + 1; ; number++) {
    const text = encode({ number, order } satisfies NumberedOrder);
    if (await bus.claim(`${lead}.${number}`, text)) return number;
  }
}

function seenUpTo(before: PastView, text: string): PastView {
  const message = readViewMessage(text);
  if (message === undefined) return before;
  const last = Math.max(before.last, message.number);
  const tick = message.type === 'snapshot' ? (sampleOf(message.snapshot)?.tick ?? -1) : -1;
  return {
    ...{ last, tick: Math.max(before.tick, tick) },
    hasTitle: before.hasTitle || message.type === 'title',
    isOver:
      before.isOver || message.type === 'failed' || (message.type === 'result' && message.isLast),
  };
}
