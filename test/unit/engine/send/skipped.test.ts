import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { readReplay } from '../../../../src/record/replay/readReplay';
import { planOf, shortStep } from '../../../fakes/plan';
import { SenderBench } from '../../../fakes/senderBench';
import { answering, SessionBench, sessionPlan } from '../../../fakes/sessionBench';
import { StreamBench } from '../../../fakes/streamBench';
import { MadeRecording } from '../../record/analyse/madeRecording';

describe('what is due at a sender that is not connected', () => {
  it('is skipped, so that all that was due is offered or skipped, whoever is away', () => {
    const away = fc.array(fc.boolean(), { minLength: 10, maxLength: 10 });
    const property = fc.property(away, fc.boolean(), (all, closed) => {
      const plan = planOf(closed ? { pacing: 'closed' } : {});
      const bench = new SenderBench(plan);
      all.forEach((isAway, index) => (bench.connections[index]!.isOpen = !isAway));
      const count = all.filter(Boolean).length;
      const { offered, skipped, sent, expected } = bench.run(shortStep).recorder;
      assert.deepEqual([offered, sent, expected], [sent, sent, sent]);
      if (closed) assert.equal(skipped > 0, count > 0);
      else assert.deepEqual([skipped, sent], [10 * count, 10 * (10 - count)]);
    });
    fc.assert(property, { numRuns: 30 });
  });

  it('is not, while the connection is exchanged by our own will', () => {
    const bench = new SenderBench(planOf(), 0, { isExchanged: (index) => index === 3 });
    for (const index of [3, 4]) bench.connections[index]!.isOpen = false;
    const { skipped, sent } = bench.run(shortStep).recorder;
    assert.deepEqual([skipped, sent], [10, 80]);
  });

  it('counts in a backlog that is given up, too', () => {
    const bench = new SenderBench(planOf());
    for (const index of [1, 2, 3]) bench.connections[index]!.isOpen = false;
    // The first look comes when the grace of the step is over.
    const { offered, skipped } = bench.run(shortStep, [2_300_000]).recorder;
    assert.deepEqual([offered, skipped], [70, 30]);
  });

  it('is also what has nobody to go to: a client that was never open, or any other', () => {
    const plan = planOf({ useCase: 'sendToClient' });
    const bench = new SenderBench(plan);
    const { fixedTargets } = bench.population;
    bench.ids[fixedTargets![0]!] = undefined;
    const { offered, skipped, sent } = bench.run(shortStep).recorder;
    assert.deepEqual([offered, skipped, sent], [90, 10, 90]);
  });

  it('is of a session that cannot begin each call that all sessions make', () => {
    const plan = sessionPlan(`sessionInterval: 500ms
steps:
  - call: Ask
  - repeat: 3
    every: 10ms
    steps: [{ call: Tell, reply: none }]
  - choose:
      - steps: [{ call: Often, reply: none }]
      - steps: [{ call: Seldom, reply: none }]`);
    const bench = new SessionBench(plan, answering(1000));
    bench.connections[0]!.isOpen = false;
    bench.run(1000);
    const { calls, skipped, sessions } = bench.sample();
    assert.deepEqual(
      calls!.map((call) => call.skipped),
      [2, 6, 0, 0],
    );
    assert.deepEqual([skipped, sessions!.started], [8, 18]);
  });

  it('is of a replay what its recording still has', async () => {
    const made = new MadeRecording();
    made.open(1);
    for (let round = 0; round < 10; round++) made.at(50 + 100 * round).call(1, 'Ask', [round]);
    const { steps, tracks } = await readReplay(made.recording, 'x', 'json');
    const parameters = { recording: 'x', speed: 1, spread: 0, steps: JSON.stringify(steps) };
    const plan = planOf({ useCase: 'replay', parameters, connections: 3 });
    const [entry] = plan.entries;
    const replayed = { ...plan, entries: [{ ...entry!, tracks: { ...tracks, spreadUs: 0 } }] };
    const bench = new SessionBench(replayed, answering(1000));
    bench.connections[0]!.isOpen = false;
    // After its fourth message.
    bench.reply(5_400_000, 1, () => {
      bench.connections[1]!.isOpen = false;
      bench.sender.lost!(1);
    });
    bench.run(2000);
    const { offered, skipped, sent } = bench.sample();
    assert.deepEqual([offered, skipped, sent], [14, 16, 14]);
  });

  it('is of streams what would have gone up', () => {
    for (const [streamDirection, perStream] of [
      ['both', 3],
      ['download', 1],
    ] as const) {
      const bench = new StreamBench({ streamDirection });
      bench.connections[0]!.isOpen = false;
      bench.to(2000);
      assert.deepEqual([bench.counts.skipped, bench.counts.sent], [2 * perStream, 2 * perStream]);
    }
    const cut = new StreamBench();
    // Each has sent two of the three items of its first stream, at 0 and 100 or at 250 and 350 ms.
    cut.to(360);
    for (const index of [0, 1]) {
      cut.connections[index]!.isOpen = false;
      cut.sender.lost(index);
    }
    cut.to(2000);
    assert.equal(cut.counts.sent + cut.counts.skipped, 12);
  });
});
