import assert from 'node:assert/strict';
import { encode, joinSubject } from '../../../../src/agents/messages';
import { waitingAgents } from '../../../../src/agents/view/waitingAgents';
import { MemoryBus } from '../memoryBus';

describe('agents that wait on a bus', () => {
  it('are known by what they ask for', async () => {
    const bus = new MemoryBus();
    const looking = waitingAgents(bus.link(), 20);
    const ask = (subject: string, question: object): void =>
      bus.say({ subject, value: encode(question) });
    ask(joinSubject, { toolVersion: '0.1.0', id: '1', host: 'b' });
    ask(joinSubject, { toolVersion: '0.1.0', id: '1', host: 'b' });
    ask(`${joinSubject}.r1`, { toolVersion: '0.1.0', id: '2', host: 'a' });
    // Of another version, or none of ours.
    ask(joinSubject, { toolVersion: '0.0.9' });
    ask(joinSubject, { id: '3', host: 'c' });
    ask(joinSubject, { toolVersion: '0.1.0', id: '4', host: 'x'.repeat(300) });
    assert.deepEqual(await looking, [
      { host: 'a', toolVersion: '0.1.0', run: 'r1' },
      { host: 'b', toolVersion: '0.1.0' },
    ]);
  });
});
