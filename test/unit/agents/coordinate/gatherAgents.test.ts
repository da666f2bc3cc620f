import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import {
  gatherAgents,
  type Gathering,
  listWaitingAgents,
} from '../../../../src/agents/coordinate/gatherAgents';
import {
  encodeMessage,
  readMember,
  runSubjects,
  joinSubject,
} from '../../../../src/agents/messages';
import { MemoryBus } from '../memoryBus';

const subjects = runSubjects('r1');
const memberOf = (epoch: string, host = epoch): string =>
  encodeMessage({ epoch, host, cores: 1, fileDescriptors: null, localPorts: null });

describe('places of a run', () => {
  async function gathered(
    claims: readonly (readonly [place: string, epoch: string])[],
    more: Partial<Gathering> = {},
  ) {
    const bus = new MemoryBus();
    const link = bus.link();
    const counts: number[] = [];
    const gathering = gatherAgents(bus.link(), {
      ...{ run: 'r1', subjects, agents: 2, withinMs: 200, ...more },
      joined: (members) => counts.push(members.length),
    });
    gathering.catch(() => undefined);
    for (const [at, [place, epoch]] of claims.entries()) {
      await link.append(`${subjects.members}.${place}`, memberOf(epoch), `${at}`);
      await new Promise((resolve) => setImmediate(resolve));
      const beat = encodeMessage({ epoch, facts: 0, orders: 0, clockErrorUs: 0 });
      link.say(`${subjects.beats}.${place}`, beat);
    }
    return { members: await gathering, counts };
  }

  for (const place of ['-1', '1.5', 'x', '', '01', '1e0', '0x1', '2', '1000'])
    it(`are whole numbers from 0, not “${place}”`, async () => {
      await assert.rejects(
        gathered([
          ['0', 'a'],
          [place, 'b'],
        ]),
        (error: unknown) => {
          assert.ok(error instanceof ExpectedError);
          assert.match(error.message, /^1 of 2 agents came within 0\.2 s; nothing was started\./);
          return true;
        },
      );
    });

  it('are for agents that somebody starts, or for pods that come by themselves', async () => {
    const advice = 'Start one on each machine (signalr-bench agent --bus …), and the run again.';
    const sentence = '0 of 2 agents came within 0.05 s; nothing was started.';
    await assert.rejects(gathered([], { withinMs: 50 }), { message: `${sentence} ${advice}` });
    await assert.rejects(gathered([], { withinMs: 50, isInCluster: true }), { message: sentence });
  });

  it('belong to whoever has claimed them first, and come in their order', async () => {
    const { members, counts } = await gathered([
      ['1', 'b'],
      ['1', 'forged'],
      ['-1', 'forged'],
      ['0', 'a'],
    ]);
    assert.deepEqual(
      members.map(({ epoch }) => epoch),
      ['a', 'b'],
    );
    assert.deepEqual(counts, [1, 1, 2]);
  });

  it('are named by what may stand in a terminal, a page and a file', () => {
    const { host, node } = readMember(
      encodeMessage({
        ...JSON.parse(memberOf('a', 'evil\u001b[31mhost')),
        node: `aks-1.pool:${'<'.repeat(90)}`,
      }),
    )!;
    assert.equal(host, 'evil??31mhost');
    assert.equal(node, `aks-1.pool:${'?'.repeat(52)}`);
    assert.equal(readMember(memberOf('a', 'x'.repeat(256))), undefined);
  });
});

describe('agents that wait on a bus', () => {
  it('are known by what they ask for', async () => {
    const bus = new MemoryBus();
    const looking = listWaitingAgents(bus.link(), 20);
    const ask = (subject: string, question: object): void =>
      bus.say({ subject, value: encodeMessage(question) });
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
