import assert from 'node:assert/strict';
import { InOrder, LogWriter } from '../../../../src/agents/bus/bus';
import { until } from '../../../fakes/until';
import { MemoryBus } from '../memoryBus';
import { Outbox } from '../../../../src/agents/agent/agent';
import { readFact } from '../../../../src/agents/messages';

const text = (number: number): string => `entry ${number}`;
const values = (bus: MemoryBus): string[] => bus.log.map(({ value }) => value);

describe('entries of a log', () => {
  it('are there in their order, each once, however often the bus was away', async () => {
    const bus = new MemoryBus();
    const link = bus.link();
    const writer = new LogWriter(link, 'a', 'w');
    link.isConnected = false;
    for (let count = 0; count < 3; count++) writer.add(text, false);
    assert.equal(await writer.empty(20), false);
    link.isConnected = true;
    assert.equal(await writer.empty(10_000), true);
    assert.deepEqual(values(bus), ['entry 1', 'entry 2', 'entry 3']);
    assert.ok(link.tries > 3);
  });

  it('are put again where the bus has lost them, unless they were taken', async () => {
    const bus = new MemoryBus();
    const writer = new LogWriter(bus.link(), 'a', 'w');
    for (const isKept of [true, false, true, true]) writer.add(text, isKept);
    assert.equal(await writer.empty(10_000), true);
    writer.taken(1);
    bus.lose();
    writer.again(60_000);
    assert.equal(await writer.empty(10_000), true);
    assert.deepEqual(values(bus), [], 'they may still be on their way');
    writer.again();
    writer.add(text, false);
    assert.equal(await writer.empty(10_000), true);
    assert.deepEqual(values(bus), ['entry 3', 'entry 4', 'entry 5']);
    assert.equal(await writer.allTaken(0), false);
    writer.taken(5);
    assert.equal(await writer.allTaken(0), true);
    bus.lose();
    writer.again();
    assert.equal(await writer.empty(10_000), true);
    assert.deepEqual(values(bus), []);
  });

  it('are offered no more where they were taken, though the log was gone before the bus said that it has them', async () => {
    const link = new MemoryBus().link();
    const writer = new LogWriter(link, 'a', 'w');
    link.isConnected = false;
    writer.add(text, true);
    writer.add(text, true);
    assert.equal(await writer.empty(20), false);
    writer.taken(2);
    assert.equal(await writer.empty(10_000), true);
    const { tries } = link;
    assert.equal(await writer.empty(10_000), true);
    assert.equal(link.tries, tries);
  });

  it('are sent whoever says that they were taken before they were said', async () => {
    const bus = new MemoryBus();
    const writer = new LogWriter(bus.link(), 'a', 'w');
    writer.taken(99_999_999);
    writer.add(text, true);
    assert.equal(await writer.empty(10_000), true);
    assert.deepEqual(values(bus), ['entry 1']);
    assert.equal(await writer.allTaken(0), false);
  });

  it('are given up together when the bus takes none for too long', async () => {
    const link = new MemoryBus().link();
    let lost = 0;
    const writer = new LogWriter(link, 'a', 'w', { keptMs: 0, lost: () => (lost += 1) });
    link.isConnected = false;
    writer.add(text, true);
    writer.add(text, true);
    await until('the loss', () => lost === 1);
    assert.equal(await writer.empty(10_000), false);
    writer.add(text, true);
    assert.deepEqual([writer.last, lost], [2, 1]);
  });

  it('are taken in order of their numbers, each once', () => {
    const taken: string[] = [];
    const reader = new InOrder<string>((value) => taken.push(value));
    for (const number of [2, 1, 1, 4, 2, 3, 3, 5]) reader.add(number, text(number));
    assert.deepEqual(taken, [1, 2, 3, 4, 5].map(text));
    assert.equal(reader.taken, 5);
    // A flood keeps nobody from taking the next value.
    for (let number = 20_000; number > 6; number--) reader.add(number, text(number));
    reader.add(6, text(6));
    assert.equal(reader.taken, 6);
    for (let number = 7; number <= 20_000; number++) reader.add(number, text(number));
    assert.equal(reader.taken, 20_000);
  });
});

const now = () => ({ open: 3, cpuUs: 4 });
const hide = (text: string): string => text;

describe('the outbox of an agent', () => {
  it('keeps what a bus that is away does not take, and sends it once', async () => {
    const bus = new MemoryBus();
    const link = bus.link();
    let lost = 0;
    const outbox = new Outbox(link, 'facts.0', 'e', { now, hide, lost: () => (lost += 1) });
    link.isConnected = false;
    for (let worker = 0; worker < 100; worker++) outbox.put({ worker, fact: { type: 'prepared' } });
    assert.equal(await outbox.empty(50), false);
    assert.equal(bus.log.length, 0);
    link.isConnected = true;
    assert.equal(await outbox.empty(10_000), true);
    const facts = bus.log.map(({ value }) => readFact(value)!);
    assert.deepEqual(
      facts.map(({ number }) => number).sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
    assert.deepEqual([facts[0]!.open, facts[0]!.cpuUs, lost, outbox.last], [3, 4, 0, 100]);
  });

  it('is empty at once when nothing was said', async () => {
    const outbox = new Outbox(new MemoryBus().link(), 'facts.0', 'e', {
      now,
      hide,
      lost: () => undefined,
    });
    assert.equal(await outbox.empty(10_000), true);
  });
});
