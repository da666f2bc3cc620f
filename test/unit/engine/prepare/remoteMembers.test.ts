import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { agentOfConnection, agentOfWorker } from '../../../../src/plan/plan';
import { populationsOf } from '../../../../src/plan/population';
import { MemberChangeLog, RemoteMembers } from '../../../../src/engine/prepare/remoteMembers';
import { EntryRecorder } from '../../../../src/engine/recorder';
import type { ChangedWhere } from '../../../../src/engine/prepare/sharedMembers';
import type { Parameters as Given } from '../../../../src/usecases/parameters';
import { planOf } from '../../../fakes/plan';
import { RetractableArrivals } from '../../../../src/engine/receive/receiver';

const agents = 3;
const connections = 12;
const workers = 6;
const groups = { groupCount: 4, groupsPerConnection: 2, sendersPer: 'connection' };
const parameters = { messageSize: 1, sendingInterval: 1, ...groups };
const entries = [
  { useCase: 'broadcast', parameters },
  { useCase: 'sendToGroup', parameters },
  { useCase: 'frequentJoinLeaveGroup', parameters: { ...parameters, joinLeaveInterval: 5 } },
  session('rooms'),
  session('rooms'),
  session(undefined),
];

/** Two of them share three groups, the last has three of its own; connections move in and out by calls of theirs. */
function session(sharedGroups: string | undefined): { useCase: string; parameters: Given } {
  const call = { kind: 'call', arguments: ['{group}'], withinMs: 1, keep: {} };
  const steps = [
    { ...call, method: 'Join', reply: 'completion', receivers: 'self', group: 'join' },
    { ...call, method: 'Say', reply: 'callback', receivers: 'group', callback: 'Said' },
  ];
  const shared: Given = sharedGroups === undefined ? {} : { sharedGroups };
  const text = { steps: JSON.stringify(steps), sessionInterval: 1, groupCount: 3 };
  return { useCase: 'session', parameters: { ...text, ...shared } };
}
const plan = planOf({ agents, connections, entries, runId: 1 }, workers);
const populations = populationsOf(plan);
const groupCount = 1 + 4 + 4 + 3 + 3;
/** Of the entries: sessions, whose senders move. */
const sessionsFrom = 3;

/** One for each thing that happens, at rising microseconds. */
const happening = fc.oneof(
  fc.record({
    what: fc.constant('move' as const),
    connection: fc.nat(connections - 1),
    outside: fc.boolean(),
  }),
  // Into the group of a session, or out of it.
  fc.record({
    what: fc.constant('stay' as const),
    connection: fc.nat(connections - 1),
    entry: fc.integer({ min: sessionsFrom, max: sessionsFrom + 2 }),
  }),
  fc.record({
    what: fc.constant('send' as const),
    worker: fc.nat(workers - 1),
    group: fc.nat(groupCount - 1),
  }),
  fc.record({ what: fc.constant('report' as const), worker: fc.nat(workers - 1) }),
  // To one worker: the next reports that are under way to it.
  fc.record({ what: fc.constant('hear' as const), worker: fc.nat(workers - 1), count: fc.nat(4) }),
  // Somebody hears of a change at once and sends.
  fc.record({
    what: fc.constant('news' as const),
    connection: fc.nat(connections - 1),
    outside: fc.boolean(),
    worker: fc.nat(workers - 1),
    group: fc.nat(groupCount - 1),
  }),
);
const story = fc
  .tuple(fc.array(fc.tuple(happening, fc.nat(3)), { maxLength: 120 }), fc.boolean())
  .map(([list, join]) => withSessions(list, join));

interface Span {
  readonly sinceUs: number;
  untilUs: number;
  readonly outside: boolean;
  /** In the group of that entry alone. */
  readonly entry?: number;
}

interface Sent {
  readonly worker: number;
  readonly group: number;
  readonly atUs: number;
}

/** With sessions that join, every connection takes part outside; without, nobody moves and nothing goes to their groups. */
function withSessions(list: Story, join: boolean): Story {
  const firstOfSessions = populations[sessionsFrom]!.firstGroup;
  return list.flatMap(([one, passUs]): Story => {
    if (one.what === 'stay' && !join) return [];
    const outside = 'outside' in one && { outside: join || one.outside };
    const group = 'group' in one && { group: join ? one.group : one.group % firstOfSessions };
    return [[{ ...one, ...outside, ...group }, passUs]];
  });
}

/** Plays the story; the clock of each agent reads `clockUs[agent]` more than it is. */
function play(list: Story, clockUs: number[], ambiguousUs = 0) {
  let realUs = 1000;
  const clockOf = (worker: number): number => realUs + clockUs[agentOfWorker(plan, worker)]!;
  const spans = Array.from({ length: connections }, (): Span[] => []);
  const changes = Array.from({ length: workers }, () => new MemberChangeLog(populations));
  const counted = Array.from({ length: workers }, () => new EntryRecorder());
  for (const each of counted) each.ambiguousUs = ambiguousUs;
  const elsewhere = Array.from({ length: workers }, (_, worker) => {
    const made = new RemoteMembers(plan, worker, populations, () => clockOf(worker));
    made.begin(ambiguousUs);
    assert.equal(made.placeOf(counted[worker]!), 0);
    return made;
  });
  const underWay = Array.from({ length: workers }, (): Report[] => []);
  const sent: Sent[] = [];
  /** How many deliveries were certain when so many messages had left. */
  const certain: [sent: number, deliveries: number][] = [];
  const certainNow = (): number =>
    counted.reduce(
      (sum, { expected }, worker) =>
        sum + expected - (elsewhere[worker]!.unsettled?.deliveries ?? 0),
      0,
    );
  const report = (worker: number): void => {
    for (const each of changes[worker]!.take(clockOf(worker)))
      for (const queue of underWay) queue.push({ worker, ...each });
  };
  const hear = (worker: number, count: number): void => {
    const reports = underWay[worker]!.splice(0, count);
    if (reports.length > 0) elsewhere[worker]!.heard(reports);
  };
  const openSpan = (connection: number, stays: boolean): Span | undefined =>
    spans[connection]!.find(
      (one) => one.untilUs === Infinity && (one.entry !== undefined) === stays,
    );
  const change = (
    connection: number,
    open: Span | undefined,
    begun: Omit<Span, 'untilUs'>,
  ): void => {
    const worker = connection % workers;
    const atUs = clockOf(worker) + 1;
    if (open === undefined) spans[connection]!.push({ ...begun, sinceUs: atUs, untilUs: Infinity });
    else open.untilUs = atUs;
    const { outside, entry } = open ?? begun;
    changes[worker]!.add({
      ...{ index: connection, atUs, joins: open === undefined },
      ...(entry === undefined
        ? { where: outside ? 'outside' : 'everywhere' }
        : { where: 'inside', population: populations[entry]! }),
    });
    // Whoever changes waits until it has happened.
    realUs += 1;
  };
  const move = (connection: number, outside: boolean): void => {
    const stay = openSpan(connection, true);
    if (stay !== undefined) change(connection, stay, stay);
    change(connection, openSpan(connection, false), { sinceUs: 0, outside });
  };
  const stay = (connection: number, entry: number): void => {
    const isOutside = openSpan(connection, false)?.outside === true;
    if (isOutside)
      change(connection, openSpan(connection, true), { sinceUs: 0, outside: false, entry });
  };
  const send = (worker: number, group: number): void => {
    const atUs = clockOf(worker);
    counted[worker]!.expected += elsewhere[worker]!.sent(group, atUs, 0);
    sent.push({ worker, group, atUs });
  };
  for (const [one, passUs] of list) {
    realUs += passUs;
    if (one.what === 'move' || one.what === 'news') move(one.connection, one.outside);
    if (one.what === 'stay') stay(one.connection, one.entry);
    if (one.what === 'news') report(one.connection % workers);
    if (one.what === 'report') report(one.worker);
    if (one.what === 'hear') hear(one.worker, one.count);
    if (one.what === 'news') hear(one.worker, Infinity);
    if (one.what === 'send' || one.what === 'news') send(one.worker, one.group);
    certain.push([sent.length, certainNow()]);
  }
  realUs += 1000;
  for (let worker = 0; worker < workers; worker++) report(worker);
  for (let worker = 0; worker < workers; worker++) hear(worker, Infinity);
  return { spans, sent, counted, elsewhere, certain };
}

type Happening = typeof happening extends fc.Arbitrary<infer Kind> ? Kind : never;
type Story = readonly (readonly [Happening, number])[];
type Report = Parameters<RemoteMembers['heard']>[0][number];

/** Whether a connection gets what is sent to the group in that time. */
function isIn(connection: number, group: number, { outside, entry }: Span): boolean {
  if (entry !== undefined)
    return populations[entry]!.firstGroup + populations[entry]!.groupOf(connection, 0) === group;
  const population = populations.filter(({ firstGroup }) => firstGroup <= group).at(-1)!;
  if (outside && population.othersMove) return false;
  return Array.from({ length: population.groupsPerConnection }, (_, slot) =>
    population.groupOf(connection, slot),
  ).includes(group - population.firstGroup);
}

describe('RemoteMembers', () => {
  it('expects in the end whoever was a member elsewhere, whatever was known when', () => {
    const exact = fc.property(story, (list) => {
      const { spans, sent, counted, elsewhere, certain } = play(list, [0, 0, 0]);
      const truth = new Array<number>(workers).fill(0);
      const soFar = [0];
      for (const { worker, group, atUs } of sent) {
        spans.forEach((all, connection) => {
          if (agentOfConnection(plan, connection) === agentOfWorker(plan, worker)) return;
          for (const span of all)
            if (span.sinceUs <= atUs && atUs < span.untilUs && isIn(connection, group, span))
              truth[worker]! += 1;
        });
        soFar.push(truth.reduce((sum, each) => sum + each, 0));
      }
      for (const [messages, deliveries] of certain) assert.ok(deliveries <= soFar[messages]!);
      assert.deepEqual(
        counted.map(({ expected }) => expected),
        truth,
      );
      assert.deepEqual(
        elsewhere.map(({ unsettled }) => unsettled),
        new Array<undefined>(workers).fill(undefined),
      );
    });
    fc.assert(exact, { numRuns: 200 });
  });

  it('leaves out whom the clocks do not assign, and each of them once', () => {
    const clocks = fc.tuple(fc.nat(6), fc.nat(6), fc.nat(6));
    const left = fc.property(story, clocks, fc.integer({ min: 1, max: 8 }), (list, clockUs, by) => {
      const { spans, sent, counted } = play(list, clockUs, by);
      const expected = new Array<number>(workers).fill(0);
      const ambiguous = new Array<number>(workers).fill(0);
      for (const { worker, group, atUs } of sent)
        spans.forEach((all, connection) => {
          if (agentOfConnection(plan, connection) === agentOfWorker(plan, worker)) return;
          const mine = all.filter((span) => isIn(connection, group, span));
          const times = mine.flatMap(({ sinceUs, untilUs }) => [sinceUs, untilUs]);
          if (times.some((us) => Math.abs(us - atUs) <= by)) ambiguous[worker]! += 1;
          else if (mine.some(({ sinceUs, untilUs }) => sinceUs <= atUs && atUs < untilUs))
            expected[worker]! += 1;
        });
      assert.deepEqual(
        counted.map((each) => [each.expected, each.ambiguous]),
        expected.map((each, worker) => [each, ambiguous[worker]]),
      );
    });
    fc.assert(left, { numRuns: 200 });
  });

  it('settles nothing before all the others have reported past it', () => {
    const elsewhere = new RemoteMembers(plan, 0, populations, () => 0);
    const counts = new EntryRecorder();
    const place = elsewhere.placeOf(counts);
    for (let atUs = 100; atUs < 3100; atUs++) elsewhere.sent(0, atUs, place);
    const tell = (worker: number, upToUs: number, changes: number[] = []): number => {
      elsewhere.heard([{ worker, upToUs, changes }]);
      return elsewhere.unsettled?.messages ?? 0;
    };
    const elsewhereOnes = [2, 3, 4, 5];
    for (const worker of elsewhereOnes.slice(1)) assert.equal(tell(worker, 5000), 3000);
    // Its own agent has nothing to say to it, and a report that is no later changes nothing.
    assert.equal(tell(1, 5000, [1, 50, 1]), 3000);
    assert.equal(tell(2, 99), 3000);
    assert.equal(tell(2, 1099, [2, 1050, 1]), 2000);
    assert.equal(counts.expected, 50);
    assert.equal(tell(2, 5000), 0);
    assert.equal(counts.expected, 2050);
    assert.equal(elsewhere.sent(0, 6000, place), 1);
  });

  it('expects nothing of an agent that was lost from what it has reported last on', () => {
    const elsewhere = new RemoteMembers(plan, 0, populations, () => 0);
    const counts = new EntryRecorder();
    const place = elsewhere.placeOf(counts);
    const joins = [2, 3, 4, 5].map((worker) => ({ worker, upToUs: 10, changes: [worker, 5, 1] }));
    elsewhere.heard(joins);
    for (const atUs of [8, 20, 30]) counts.expected += elsewhere.sent(0, atUs, place);
    assert.deepEqual([counts.expected, elsewhere.unsettled], [12, { messages: 3, deliveries: 12 }]);
    elsewhere.heard([
      { worker: 2, upToUs: 25, changes: [] },
      { worker: 3, upToUs: 22, changes: [] },
    ]);
    elsewhere.gone(1);
    elsewhere.heard([{ worker: 2, upToUs: 40, changes: [8, 39, 1] }]);
    for (const worker of [4, 5]) elsewhere.heard([{ worker, upToUs: 35, changes: [] }]);
    assert.deepEqual([counts.expected, elsewhere.unsettled], [10, undefined]);
    assert.equal(elsewhere.sent(0, 50, place), 2);
  });

  it('expects nothing of those of a lost agent that had moved into a group', () => {
    const elsewhere = new RemoteMembers(plan, 0, populations, () => 0);
    const population = populations[sessionsFrom]!;
    const group = population.firstGroup + population.groupOf(2, 0);
    const changes = [2, 5, 1 + 2, 2, 6, 1 + 4 + 8 * sessionsFrom];
    elsewhere.heard([{ worker: 2, upToUs: 10, changes }]);
    const place = elsewhere.placeOf(new EntryRecorder());
    assert.deepEqual([elsewhere.sent(0, 11, place), elsewhere.sent(group, 11, place)], [1, 1]);
    elsewhere.gone(1);
    assert.deepEqual([elsewhere.sent(0, 20, place), elsewhere.sent(group, 20, place)], [0, 0]);
  });

  it('believes no report of a connection that is not the worker’s', () => {
    const elsewhere = new RemoteMembers(plan, 0, populations, () => 0);
    const changes = [3, 5, 1, 0, 5, 1, -4, 5, 1, 26, 5, 1, 2.5, 5, 1, 2, Infinity, 1, 8, 5];
    elsewhere.heard([{ worker: 2, upToUs: 10, changes }]);
    const place = elsewhere.placeOf(new EntryRecorder());
    assert.equal(elsewhere.sent(0, 7, place), 0);
    // Nor of one that moves: where nobody does, in an entry that is none, out of what it is not in, or without taking part.
    const moves = [0, 1, 99, -1].map((entry) => 1 + 4 + entry * 8);
    const said = [
      2,
      6,
      1 + 4 + 24,
      2,
      7,
      3,
      ...moves.flatMap((what) => [2, 8, what]),
      2,
      9,
      4 + 24,
    ];
    elsewhere.heard([{ worker: 2, upToUs: 20, changes: said }]);
    for (let group = 9; group < groupCount; group++)
      assert.equal(elsewhere.sent(group, 21, place), 0);
  });
});

describe('FreshArrivals', () => {
  it('takes back what its receiver’s joining or leaving makes ambiguous, once, and nothing else', () => {
    const fresh = new RetractableArrivals();
    const counted = new EntryRecorder();
    counted.ambiguousUs = 10;
    Object.assign(counted, { received: 4, late: 1, extra: 2 });
    const note = (index: number, sentUs: number, as: 'received' | 'late' | 'extra'): void =>
      fresh.note({ counted, index, sentUs, arrivedUs: sentUs + 2, othersMove: index === 3, as });
    const now = (): number[] => [counted.received, counted.late, counted.extra];
    note(1, 80, 'received');
    note(1, 92, 'received');
    note(2, 95, 'received');
    note(1, 95, 'late');
    note(3, 96, 'extra');
    note(1, 97, 'extra');
    const changed = (index: number, atUs: number, where: ChangedWhere): void =>
      fresh.changed({ index, atUs, joins: true, where });
    changed(3, 101, 'outside');
    changed(1, 101, 'inside');
    assert.deepEqual(now(), [4, 1, 2]);
    changed(1, 101, 'everywhere');
    assert.deepEqual(now(), [3, 0, 1]);
    changed(1, 101, 'everywhere');
    changed(2, 106, 'everywhere');
    assert.deepEqual(now(), [3, 0, 1], 'sent more than 10 us before');
    changed(3, 101, 'inside');
    assert.deepEqual(now(), [3, 0, 0]);
  });
});

describe('MemberChangeLog', () => {
  it('divides what is long, and says only in the last part how far it goes', () => {
    const changes = new MemberChangeLog(populations);
    assert.deepEqual(changes.take(7.9), [{ upToUs: 7, changes: [] }]);
    for (let index = 0; index < 9000; index++)
      changes.add({
        ...{ index, atUs: 10 + index, joins: true },
        where: index % 2 === 1 ? 'outside' : 'everywhere',
      });
    const reports = changes.take(10_000.5);
    assert.deepEqual(
      reports.map((each) => [each.upToUs, each.changes.length]),
      [
        [7, 3 * 4096],
        [7, 3 * 4096],
        [10_000, 3 * 808],
      ],
    );
    assert.deepEqual(reports[0]!.changes.slice(0, 6), [0, 10, 1, 1, 11, 3]);
    assert.deepEqual(reports[2]!.changes.slice(0, 3), [8192, 8202, 1]);
    assert.deepEqual(changes.take(10_001), [{ upToUs: 10_001, changes: [] }]);
    const population = populations[5]!;
    changes.add({ index: 7, atUs: 10_002, joins: true, where: 'inside', population });
    assert.deepEqual(changes.take(10_003)[0]!.changes, [7, 10_002, 1 + 4 + 5 * 8]);
  });
});
