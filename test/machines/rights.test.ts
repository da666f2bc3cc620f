import assert from 'node:assert/strict';
import type { Bus } from '../../src/machines/bus/bus';
import { connectNats } from '../../src/machines/bus/natsBus';
import { agentUser, busConfig, leadUser } from '../../src/machines/kubernetes/busConfig';
import { subjectsOf } from '../../src/machines/messages';
import { until } from '../fakes/until';
import { NatsServer } from './natsServer';

const keys = { lead: 'key1', agent: 'key2' };
const subjects = subjectsOf('r1');

describe('what an agent may do on the bus of a run', () => {
  let server: NatsServer;
  let [lead, agent]: (Bus | undefined)[] = [];
  const open = (user: string, password: string): Promise<Bus> =>
    connectNats({ url: server.url, name: 'test', user, password });

  before(async () => {
    server = await NatsServer.start((folder) => busConfig('r1', keys, folder));
    lead = await open(leadUser, keys.lead);
    agent = await open(agentUser, keys.agent);
    await lead.openLog(subjects.log);
  });
  after(async () => {
    await Promise.all([lead?.close(), agent?.close()]);
    await server.dispose();
  });

  it('is to take a place, to report, and to hear the coordinator', async () => {
    const heard: string[] = [];
    const following = await agent!.follow(subjects.log, subjects.lead, (text) => heard.push(text));
    assert.equal(await agent!.claim(`${subjects.members}.0`, 'me'), true);
    assert.equal(await agent!.claim(`${subjects.members}.0`, 'me again'), false);
    await agent!.append(`${subjects.facts}.0`, 'a fact', '1');
    await lead!.append(subjects.lead, 'an order', '2');
    await until('the order', () => heard.length === 1);
    following.dispose();
  });

  it('is not to give orders, to forge a result, or to make a log', async () => {
    await assert.rejects(agent!.append(subjects.lead, 'forged', '3'), /[Pp]ermission/);
    await assert.rejects(agent!.append(subjects.view, 'forged', '4'), /[Pp]ermission/);
    await assert.rejects(agent!.openLog('signalr-bench.other.log'));
    const found: string[] = [];
    const following = await lead!.follow(subjects.log, `${subjects.log}.>`, (_text, subject) =>
      found.push(subject),
    );
    await lead!.append(subjects.lead, 'last', '5');
    await until('the last', () => found.at(-1) === subjects.lead && found.length >= 4);
    assert.ok(found.every((subject) => subject !== subjects.view));
    assert.equal(found.filter((subject) => subject === subjects.lead).length, 2);
    following.dispose();
  });

  it('is not to read what others report', async () => {
    await assert.rejects(agent!.follow(subjects.log, `${subjects.facts}.*`, () => undefined));
  });

  it('needs its key', async () => {
    await assert.rejects(open(agentUser, 'wrong'), /cannot be used/);
  });
});
