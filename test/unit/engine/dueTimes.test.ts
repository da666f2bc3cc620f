import assert from 'node:assert/strict';
import fc from 'fast-check';
import { gatherUs, napMs } from '../../../src/engine/send/pacingLoop';
import { seededRandom } from '../../../src/base/random';
import type { Plan } from '../../../src/plan/plan';
import { readReplay } from '../../../src/record/replay/readReplay';
import type { HubMessage } from '../../../src/wire/message/hubMessage';
import type { HubSideConnection } from '../../fakes/hubSide';
import { entryOf, planOf, shortStep } from '../../fakes/plan';
import { sessionPlan } from '../../fakes/sessionBench';
import { WorkerBench } from '../../fakes/workerBench';
import { MadeRecording } from '../record/analyse/madeRecording';

/** A nap, the time for gathering where messages follow each other closely, and a turn of the event loop for each that is due. */
const mostLateUs = napMs * 1000 + gatherUs + 50;

interface Departure {
  readonly index: number;
  /** From the begin of the step, microseconds. */
  readonly atUs: number;
  readonly message: HubMessage;
}

type Answer = (bench: WorkerBench, from: HubSideConnection, message: HubMessage) => void;

/** What an idle worker sends in a step, with timers that are late by up to a millisecond, as those of Node.js. */
async function departures(plan: Plan, answer: Answer): Promise<readonly Departure[]> {
  const bench = new WorkerBench(plan);
  const random = seededRandom(11);
  bench.time.lateMs = () => random.below(1000) / 1000;
  try {
    await bench.ready();
    const found: Departure[] = [];
    const startUs = Math.ceil(bench.time.nowMs) * 1000;
    bench.hub.onMessage = (from, message) => {
      if (message.type === 6) return;
      found.push({ index: from.index, atUs: bench.time.nowUs() - startUs, message });
      answer(bench, from, message);
    };
    await bench.step(1, 1100);
    return found;
  } finally {
    await bench.dispose();
  }
}

function assertOnTime(atUs: number, dueUs: number, what: string): void {
  const lateUs = atUs - dueUs;
  // Streams are due at whole microseconds.
  assert.ok(lateUs > -1 && lateUs <= mostLateUs, `${what}: ${lateUs} us after ${dueUs} us`);
}

/** All are due in one even stream, of which each place is taken once. */
function assertEven(all: readonly Departure[], everyUs: number): void {
  for (const [at, { atUs }] of all.entries()) assertOnTime(atUs, at * everyUs, `number ${at}`);
}

const step = { ...shortStep, warmupMs: 0 };
const answers =
  (afterMs: number): Answer =>
  (bench, from, message) =>
    void setTimeout(() => bench.hub.answer(from, message), afterMs);
const targetOf = (message: HubMessage): string =>
  message.type === 1 || message.type === 4 ? message.target : '';
const of =
  (...targets: readonly string[]) =>
  ({ message }: Departure): boolean =>
    targets.includes(targetOf(message));

const few = fc.integer({ min: 1, max: 5 });
const shortMs = fc.integer({ min: 0, max: 400 }).map((tenths) => tenths / 10);
const wholeMs = fc.integer({ min: 0, max: 60 });
const check = <T>(shape: fc.Arbitrary<T>, test: (drawn: T) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(shape, test), { numRuns: 8 });

describe('what is due in an idle worker leaves within a nap of its time', function () {
  this.timeout(60_000);

  it('messages, whatever comes meanwhile', () =>
    check(
      fc.record({ senders: few, interval: fc.integer({ min: 20, max: 400 }), afterMs: shortMs }),
      async ({ senders, interval, afterMs }) => {
        const parameters = { messageSize: 20, sendingInterval: interval };
        const plan = planOf({ parameters, steps: [{ ...step, senders }] });
        const found = await departures(plan, answers(afterMs));
        assertEven(found, (interval * 1000) / senders);
        assert.equal(found.length, Math.ceil((1000 * senders) / interval));
      },
    ));

  it('messages of closed pacing, an interval after the one before', () =>
    check(
      fc.record({ senders: few, interval: fc.integer({ min: 20, max: 300 }), afterMs: shortMs }),
      async ({ senders, interval, afterMs }) => {
        const parameters = { messageSize: 20, sendingInterval: interval };
        const plan = planOf({ pacing: 'closed', parameters, steps: [{ ...step, senders }] });
        const found = await departures(plan, answers(afterMs));
        const last = new Map<number, number>();
        for (const { index, atUs } of found) {
          const beforeUs = last.get(index);
          if (beforeUs !== undefined) assertOnTime(atUs, beforeUs + interval * 1000, `${index}`);
          last.set(index, atUs);
        }
        assert.equal(last.size, senders);
      },
    ));

  it('items of streams, whatever comes back', () =>
    check(
      fc.record({ items: few, delay: fc.integer({ min: 0, max: 60 }), afterMs: shortMs }),
      async ({ items, delay, afterMs }) => {
        const parameters = {
          ...{ messageSize: 20, sendingInterval: 400, streamDirection: 'both' },
          ...{ streamingItemCount: items, streamingItemSendDelay: delay },
        };
        const steps = [{ ...step, senders: 3 }];
        const plan = planOf({ useCase: 'streamingEcho', connections: 3, parameters, steps });
        const ids = new Map<string, string>();
        const found = await departures(plan, (_bench, from, message) => {
          if (message.type === 4) ids.set(message.streamIds![0]!, message.invocationId);
          if (message.type !== 2 && message.type !== 3) return;
          const invocationId = ids.get(message.invocationId)!;
          setTimeout(() => from.gets({ ...message, invocationId }), afterMs);
        });
        const opened = found.filter(({ message }) => message.type === 4);
        assertEven(opened, 400_000 / 3);
        assert.equal(opened.length, 8);
        for (const [at, { index, message }] of opened.entries()) {
          const id = message.type === 4 ? message.streamIds![0] : '';
          const sent = found.filter(
            (one) =>
              one.index === index && 'item' in one.message && one.message.invocationId === id,
          );
          for (const [item, { atUs }] of sent.entries())
            assertOnTime(atUs, (at * 400_000) / 3 + item * delay * 1000, `item ${item}`);
        }
      },
    ));

  it('moves into groups and out of them', () =>
    check(
      fc.record({ movers: few, interval: fc.integer({ min: 20, max: 400 }), afterMs: shortMs }),
      async ({ movers, interval, afterMs }) => {
        const parameters = {
          ...{ messageSize: 20, sendingInterval: 500, groupCount: 1, groupsPerConnection: 1 },
          ...{ joinLeaveInterval: interval },
        };
        const steps = [{ ...step, senders: 1 }];
        const useCase = 'frequentJoinLeaveGroup';
        const plan = planOf({ useCase, connections: movers + 1, parameters, steps });
        const found = await departures(plan, answers(Math.min(afterMs, interval / 2)));
        assertEven(found.filter(of('JoinGroup', 'LeaveGroup')), (interval * 1000) / movers);
        assertEven(found.filter(of('SendToGroup')), 500_000);
      },
    ));

  it('what a recording has', () =>
    check(
      fc.record({ gapsMs: fc.array(wholeMs, { minLength: 1, maxLength: 12 }), afterMs: shortMs }),
      async ({ gapsMs, afterMs }) => {
        const made = new MadeRecording().open(1);
        let atMs = 0;
        const dueMs = gapsMs.map((gapMs) => (atMs += gapMs));
        for (const [at, ms] of dueMs.entries()) made.at(ms).call(1, 'Ask', [at]);
        const { steps, tracks } = await readReplay(made.recording, 'x', 'json');
        const written = { recording: 'x', speed: 1, spread: 0, steps: JSON.stringify(steps) };
        const entry = {
          ...entryOf({ useCase: 'replay', parameters: written }),
          tracks: { ...tracks, spreadUs: 0 },
        };
        const plan = planOf({ connections: 2, entries: [entry], steps: [{ ...step, senders: 2 }] });
        const found = await departures(plan, answers(afterMs));
        assert.equal(found.length, 2 * dueMs.length);
        for (const index of [0, 1])
          for (const [at, { atUs }] of found.filter((one) => one.index === index).entries())
            assertOnTime(atUs, dueMs[at]! * 1000, `call ${at}`);
      },
    ));

  describe('in sessions', () => {
    const part = fc.record({
      kind: fc.constantFrom('call', 'join', 'stream', 'items', 'on'),
      waitMs: wholeMs,
      /** Of the hub. */
      tookMs: shortMs,
    });
    type Part = typeof part extends fc.Arbitrary<infer One> ? One : never;

    const written = ({ kind }: Part, at: number): object => {
      if (kind === 'on') return { on: `Event${at}` };
      if (kind === 'stream') return { stream: `S${at}`, items: 1 };
      if (kind === 'items') return { stream: `S${at}`, items: 2, cancel: true };
      return kind === 'join'
        ? { call: `J${at}`, group: 'join', arguments: ['{group}'] }
        : { call: `C${at}`, arguments: [] };
    };

    it('calls after an answer, a join, a stream or an event', () =>
      check(
        fc.record({ parts: fc.array(part, { minLength: 2, maxLength: 5 }), senders: few }),
        async ({ parts: drawn, senders }) => {
          const parts = [{ kind: 'call' as const, waitMs: 0, tookMs: 1 }, ...drawn];
          const steps = parts.flatMap((one, at) => [
            ...(one.waitMs === 0 ? [] : [{ wait: `${one.waitMs}ms` }]),
            written(one, at),
          ]);
          const joins = drawn.some(({ kind }) => kind === 'join');
          const plan = sessionPlan(
            `sessionInterval: 1s\n${joins ? 'groupCount: 1\n' : ''}steps: ${JSON.stringify(steps)}`,
            {
              connections: senders,
              steps: [{ ...step, senders }],
            },
          );
          const due = new Map<number, number>();
          let endUs = 0;
          const made: (readonly [atUs: number, dueUs: number, what: string])[] = [];
          const found = await departures(plan, (bench, from, message) => {
            const target = targetOf(message);
            if (target === '' || !('invocationId' in message)) return;
            const { time } = bench;
            const { index } = from;
            const { invocationId } = message;
            const at = Number(target.slice(1));
            if (at > 0) made.push([time.nowUs(), due.get(index)!, `${target} of ${index}`]);
            due.delete(index);
            endUs ||= time.nowUs() + 1_000_000;
            const follow = (next: number, overUs: number): void => {
              const one = parts[next];
              if (one === undefined) return;
              const dueUs = overUs + one.waitMs * 1000;
              if (one.kind !== 'on') due.set(index, dueUs);
              else
                setTimeout(() => {
                  follow(next + 1, Math.max(dueUs, time.nowUs()));
                  from.gets({ type: 1, target: `Event${next}`, arguments: [] });
                }, one.tookMs);
            };
            const { kind, tookMs } = parts[at]!;
            setTimeout(() => {
              const item = { type: 2, invocationId: invocationId!, item: 1 } as const;
              const completion = { type: 3, invocationId: invocationId!, result: null } as const;
              // What follows may leave at once.
              follow(at + 1, time.nowUs());
              if (kind === 'items') from.gets(item, item);
              else if (kind === 'stream') from.gets(item, completion);
              else from.gets(completion);
            }, tookMs);
          });
          assertEven(found.filter(of('C0')), 1_000_000 / senders);
          for (const one of made) assertOnTime(...one);
          for (const dueUs of due.values()) assert.ok(dueUs >= endUs, `not made: ${dueUs} us`);
        },
      ));
  });
});
