import assert from 'node:assert/strict';
import type { MembershipReport, ToWorker } from '../../../../src/messages/worker';
import { MembershipRelay } from '../../../../src/engine/lead/agents';

describe('MembershipRelay', () => {
  let alive: Set<number>;
  let ordered: (readonly MembershipReport[])[];
  let news: MembershipRelay;

  beforeEach(() => {
    alive = new Set([0, 1, 2]);
    ordered = [];
    news = new MembershipRelay(
      () => alive,
      (order: ToWorker) => order.type === 'moved' && ordered.push(order.reports),
    );
  });

  const report = (worker: number, upToUs: number, changes: number[] = []): MembershipReport => ({
    ...{ worker, upToUs, changes },
  });

  it('goes on in one order when every living worker has reported, in the order of the reports', () => {
    const said = [report(1, 10), report(0, 11, [3, 9, 1]), report(1, 12), report(2, 8)];
    for (const each of said) news.add(each);
    assert.deepEqual(ordered, [said]);
    alive.delete(2);
    const later = [report(0, 20), report(1, 21)];
    for (const each of later) news.add(each);
    assert.deepEqual(ordered, [said, later]);
  });

  it('goes on with what there is when it is asked to, and with nothing where there is none', () => {
    news.forward();
    assert.deepEqual(ordered, []);
    news.add(report(2, 5));
    news.forward();
    assert.deepEqual(ordered, [[report(2, 5)]]);
  });

  it('divides what is long, and never a report', () => {
    const changes = Array.from({ length: 12_288 }, (_, at) => at);
    const said = [0, 0, 0, 1, 2].map((worker, at) => report(worker, at, changes));
    for (const each of said) news.add(each);
    assert.deepEqual(
      ordered.map((each) => each.length),
      [2, 2, 1],
    );
    assert.deepEqual(ordered.flat(), said);
  });

  it('hands on nothing that no worker writes', () => {
    const wrong = [
      report(0, NaN),
      report(0, Infinity),
      report(0, -1),
      report(0, '7' as unknown as number),
      report(0, 7, [1, 2.5, 1]),
      report(0, 7, [1, '2', 1] as number[]),
      report(0, 7, Array<number>(30_000).fill(1)),
      report(0, 7, { length: 3 } as unknown as number[]),
      report(0, 7, null as unknown as number[]),
    ];
    for (const each of wrong) news.add(each);
    news.forward();
    assert.deepEqual(ordered, []);
  });
});
