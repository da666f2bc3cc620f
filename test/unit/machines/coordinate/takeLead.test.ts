import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { takeLead } from '../../../../src/machines/coordinate/takeLead';
import { encode, subjectsOf } from '../../../../src/machines/messages';
import { VirtualTime } from '../../../fakes/virtualTime';
import { MemoryBus } from '../memoryBus';

const subjects = subjectsOf('r1');
const order = {
  ...{ type: 'run', text: '', overrides: [], files: {}, workersEach: 1, runId: 7, seed: 1 },
  ...{ dialect: 'auto', planHash: 'h', originUs: 0, startedAt: '2026-01-01T00:00:00Z' },
};
const member = { epoch: 'e', host: 'a', cores: 1, fileDescriptors: null, localPorts: null };

describe('the lead of a run', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => time.restore());

  it('is of the first, and of nobody else while he is there', async () => {
    const bus = new MemoryBus();
    const first = await takeLead(bus.link(), 'r1', subjects);
    assert.equal(first.past, undefined);
    const link = bus.link();
    const signs = setInterval(() => link.say(subjects.alive, encode({})), 20);
    let held = 0;
    const second = takeLead(bus.link(), 'r1', subjects, () => (held += 1), 200);
    await assert.rejects(time.until(second, 1000), (error: unknown) => {
      assert.ok(error instanceof ExpectedError);
      assert.equal(error.code, 'run-led');
      return true;
    });
    clearInterval(signs);
    assert.equal(held, 1);
  });

  it('goes to one other when nothing is heard of him, with all that he has left', async () => {
    const bus = new MemoryBus();
    const link = bus.link();
    await takeLead(link, 'r1', subjects);
    await link.claim(`${subjects.members}.0`, encode(member));
    // Not each that has the key of the bus takes a place.
    for (const place of ['0', '-1', '1.5', '01', '7', 'x'])
      await link.append(
        `${subjects.members}.${place}`,
        encode({ ...member, host: 'forged' }),
        `forged ${place}`,
      );
    await link.append(`${subjects.lead}.1`, encode({ number: 1, order }), 'a');
    await link.append(`${subjects.lead}.2`, encode({ number: 2, order: { type: 'halt' } }), 'b');
    const title = { type: 'title', file: 'a', text: '', startedAt: order.startedAt, url: 'u' };
    await link.append(subjects.view, encode({ number: 1, ...title }), 'c');
    await link.append(subjects.view, encode({ number: 2, type: 'snapshot', snapshot: '?' }), 'd');
    const beat = { epoch: 'e', facts: 1, orders: 9, clockErrorUs: 0, clockJumps: 0 };
    const beats = setInterval(() => link.say(`${subjects.beats}.0`, encode(beat)), 500);
    const taking = [1, 2].map(() => takeLead(bus.link(), 'r1', subjects));
    const both = await time.until(Promise.all(taking), 20_000);
    clearInterval(beats);
    assert.equal(new Set(both.map(({ marker }) => marker)).size, 2);
    const [{ past, view }] = both as [(typeof both)[0]];
    assert.equal(past?.order.planHash, 'h');
    assert.deepEqual(past.members, [member]);
    // The agent has taken more orders than a bus knows that has lost its file.
    assert.deepEqual([past.orders, past.isAlive], [9, true]);
    assert.deepEqual(view, { last: 2, tick: -1, hasTitle: true, isOver: false });
  });

  it("is nobody's where the first has led the run to its end meanwhile", async () => {
    const bus = new MemoryBus();
    const link = bus.link();
    await takeLead(link, 'r1', subjects);
    const second = takeLead(bus.link(), 'r1', subjects);
    await link.removeLog();
    await assert.rejects(time.until(second, 20_000), {
      code: 'run-led',
      message: 'Run r1 was led by another process, and is over: give another id with --run.',
    });
  });

  it('of a run whose end is on the bus says so', async () => {
    const bus = new MemoryBus();
    const link = bus.link();
    await takeLead(link, 'r1', subjects);
    await link.append(subjects.view, encode({ number: 5, type: 'failed', text: 'no' }), 'a');
    const { past, view } = await time.until(takeLead(bus.link(), 'r1', subjects), 20_000);
    assert.equal(past, undefined);
    assert.deepEqual([view.isOver, view.last], [true, 5]);
  });
});
