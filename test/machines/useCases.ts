import assert from 'node:assert/strict';
import type { MessageSummary, RunSummary } from '../../src/measure/summary';
import { assertExact, onlyStep, type LoadTest } from '../load/loadRun';

export interface UseCaseCounts {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly receivers: number;
  /** Messages in one sending, and deliveries of it where those are not the same. */
  readonly items?: number;
  readonly deliveries?: number;
}

const senders = 3;
const perSender = 10;

export function useCasesOf(connections: number): UseCaseCounts[] {
  const groups = { groupCount: 4 };
  const streams = { streamingItemCount: 3 };
  const own = { method: 'Echo', arguments: [{ data: '{text:100}' }] };
  return [
    { name: 'echo', receivers: 1 },
    { name: 'broadcast', receivers: connections },
    { name: 'sendToGroup', parameters: groups, receivers: connections / 4 },
    { name: 'sendToClient', receivers: 1 },
    { name: 'sendToClient', parameters: { targets: 'random' }, receivers: 1 },
    { name: 'streamingEcho', parameters: streams, receivers: 1, items: 3 },
    {
      ...{ name: 'streamingEcho', receivers: 1, items: 3, deliveries: 1 },
      parameters: { ...streams, streamDirection: 'upload' },
    },
    {
      ...{ name: 'streamingEcho', receivers: 1, items: 1, deliveries: 3 },
      parameters: { ...streams, streamDirection: 'download' },
    },
    { name: 'invoke', parameters: own, receivers: 1 },
  ];
}

export function mixOf(
  cases: readonly UseCaseCounts[],
  connections: number,
): Omit<LoadTest, 'target'> {
  // Ten messages of each sender, so slowly that a worker that stands still for 2 s sends all of them yet.
  const step = { singleStepDuration: '2s', warmup: '200ms' };
  const pace = { sendingInterval: '200ms' };
  return {
    entries: cases.map(({ name, parameters }) => ({
      ...{ name, senders },
      parameters: { ...pace, ...parameters },
    })),
    config: { connections, baseSending: senders * cases.length, workers: 1, ...step },
  };
}

export function assertEachExact(
  run: RunSummary,
  cases: readonly UseCaseCounts[],
  changes: Partial<MessageSummary> = {},
): void {
  const { entries = [] } = onlyStep(run);
  assert.equal(entries.length, cases.length);
  for (const [at, { receivers, items = 1, deliveries = items }] of cases.entries()) {
    const sendings = senders * perSender;
    assertExact(
      { ...entries[at]!, ...changes },
      sendings * items,
      sendings * deliveries * receivers,
    );
  }
}
