import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { giveFirst, takeLead } from '../../../../src/machines/coordinate/takeLead';
import { encode, subjectsOf, type LedOrder } from '../../../../src/machines/messages';
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

  it('has its first order behind what the other one had on its way, and lets none follow', async () => {
    const bus = new MemoryBus();
    const [old, next, agent] = [bus.link(), bus.link(), bus.link()];
    const heard: string[] = [];
    agent.hear(`${subjects.given}.*`, (text) => heard.push(text));
    const flush = (number: number): string =>
      encode({ number, order: { type: 'flush', flush: number } });
    for (const number of [1, 2])
      await old.claim(`${subjects.lead}.${number}`, flush(number), `lead.7.1.${number}`);
    // The next one knows of the first order alone when the second one comes.
    const led = { type: 'led', clock: 'c', offsetUs: 5, errorUs: 1 } as const;
    assert.equal(await giveFirst(next, subjects, 1, led), 3);
    const late = await old.claim(`${subjects.lead}.3`, flush(3), 'lead.7.1.3');
    assert.equal(late, false);
    // The bus passes on what it has kept after it says so.
    await Promise.resolve();
    assert.deepEqual(heard, [flush(1), flush(2), encode({ number: 3, order: led })]);
  });

  it('knows whose clock the time of the run is, however often it was taken', async () => {
    const keeper = async (...leds: LedOrder[]) => {
      const bus = new MemoryBus();
      const link = bus.link();
      await takeLead(link, 'r1', subjects);
      await link.claim(
        `${subjects.lead}.1`,
        encode({ number: 1, order: { ...order, clock: 'a' } }),
      );
      let last = 1;
      for (const led of leds) last = await giveFirst(link, subjects, last, led);
      return (await time.until(takeLead(bus.link(), 'r1', subjects), 20_000)).past?.time;
    };
    const led = { type: 'led', errorUs: 1 } as const;
    const next = { ...led, clock: 'b', offsetUs: -7 };
    assert.deepEqual(await keeper(), { clock: 'a', offsetUs: 0 });
    assert.deepEqual(await keeper(next), { clock: 'b', offsetUs: -7 });
    // The last one has only ended the run, and kept no time.
    assert.deepEqual(await keeper(next, { ...led, errorUs: 0 }), { clock: 'b', offsetUs: -7 });
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
