import assert from 'node:assert/strict';
import { Outbox } from '../../../../src/agents/agent/agent';
import { readFact } from '../../../../src/agents/messages';
import { MemoryBus } from '../memoryBus';

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
