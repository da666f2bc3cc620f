import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { ExpectedError } from '../../src/base/expectedError';
import { exitCode, exitCodeForError } from '../../src/cli/exitCode';
import type { Bus } from '../../src/agents/bus/bus';
import { connectNats } from '../../src/agents/bus/natsBus';
import { agentUser, busConfig, leadUser } from '../../src/agents/kubernetes/manifest';
import { inboxPrefix, streamName, runSubjects } from '../../src/agents/messages';
import { connectBus } from '../../src/run/agentFiles';
import { until } from '../fakes/until';
import { NatsServer } from './natsServer';

const keys = { lead: 'key1', agent: 'key2' };
const asAgent = { user: agentUser, password: keys.agent };
const subjects = runSubjects('r1');
const stream = streamName(subjects.log);

/** As docs/machines.md has it for hosts. */
function documented(folder: string): string {
  const [block = ''] = /^ {6}jetstream \{\}[^]*?\n {6}\}$/m.exec(
    readFileSync('docs/machines.md', 'utf8'),
  ) as readonly string[];
  assert.ok(block.includes('$AGENT_KEY'));
  return block
    .replace('jetstream {}', `jetstream { store_dir: ${JSON.stringify(folder)} }`)
    .replace('$LEAD_KEY', keys.lead)
    .replace('$AGENT_KEY', keys.agent);
}

const configs = {
  'of a run in a cluster': (folder: string) => busConfig('r1', keys, folder),
  'that the documents have for hosts': documented,
};

describe('a bus', () => {
  const isAsked = async (config?: (folder: string) => string, key = {}): Promise<boolean> => {
    const server = await NatsServer.start(config);
    const bus = await connectNats({ url: server.url, name: 'test', ...key });
    const { requiresKey } = bus;
    await bus.close();
    await server.dispose();
    return requiresKey;
  };

  it('has users where nobody comes in without a key', async () => {
    assert.equal(await isAsked(), false);
    const asked = (rest: string) => (folder: string) =>
      `jetstream { store_dir: ${JSON.stringify(folder)} }\n${rest}\n`;
    assert.equal(await isAsked(asked('authorization { token: key }'), { token: 'key' }), true);
    const users = 'authorization { users: [{ user: a, password: b }] }';
    assert.equal(await isAsked(asked(users), { user: 'a', password: 'b' }), true);
    // Whoever shows nothing is taken for that one.
    assert.equal(await isAsked(asked(`${users}\nno_auth_user: a`)), false);
  });
});

for (const [whose, config] of Object.entries(configs))
  describe(`what an agent may do on the bus ${whose}`, () => {
    let server: NatsServer;
    let [lead, agent]: (Bus | undefined)[] = [];
    /** The same user by the library alone, as whoever has found its key. */
    let thief: NatsConnection | undefined;
    const open = (user: string, password: string): Promise<Bus> =>
      connectNats({ url: server.url, name: 'test', user, password });

    before(async () => {
      server = await NatsServer.start(config);
      lead = await open(leadUser, keys.lead);
      agent = await open(agentUser, keys.agent);
      thief = await connect({
        ...{ servers: server.url, user: agentUser, pass: keys.agent },
        inboxPrefix: inboxPrefix(agentUser),
      });
      await lead.openLog(subjects.log);
    });
    after(async () => {
      await Promise.all([lead?.close(), agent?.close(), thief?.close()]);
      await server.dispose();
    });

    async function ask(subject: string, payload: object | string): Promise<string | undefined> {
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
      const answer = await thief!.request(subject, text, { timeout: 300 }).catch(() => undefined);
      return answer?.string();
    }

    it('is to take a place, to report, and to hear and read the coordinator', async () => {
      const heard: string[] = [];
      const hearing = agent!.hear(`${subjects.lead}.*`, (text) => heard.push(text));
      assert.equal(await agent!.claim(`${subjects.members}.0`, 'me'), true);
      assert.equal(await agent!.claim(`${subjects.members}.0`, 'me again'), false);
      await agent!.append(`${subjects.facts}.0`, 'a fact', '1');
      await lead!.append(`${subjects.lead}.1`, 'an order', '2');
      await until('the order', () => heard.length === 1);
      await lead!.append(`${subjects.lead}.2`, 'the next one', '3');
      await until('the next one', () => heard.length === 2);
      hearing.dispose();
      assert.deepEqual(heard, ['an order', 'the next one']);
      assert.equal(await agent!.read(subjects.log, `${subjects.lead}.1`), 'an order');
      assert.equal(await agent!.read(subjects.log, `${subjects.lead}.3`), undefined);
    });

    it('is not to give orders, to forge a result, or to make a log', async () => {
      await assert.rejects(
        agent!.append(`${subjects.lead}.3`, 'forged', '3'),
        /its user may not write to signalr-bench\.r1\.log\./,
      );
      await assert.rejects(
        agent!.append(subjects.view, 'forged', '4'),
        /its user may not write to signalr-bench\.r1\.log\./,
      );
      await assert.rejects(agent!.openLog('signalr-bench.other.log'));
      const bus = await connectBus({ ...{ url: server.url, name: 'test' }, ...asAgent });
      await assert.rejects(bus.openLog('signalr-bench.other.log'), (error: unknown) => {
        assert.ok(error instanceof ExpectedError);
        assert.match(
          error.message,
          /^The bus did not make the log of the run: its user may not write to \$JS\.API\.STREAM\.CREATE\..+; docs\/machines\.md lists the rights that it needs\.$/,
        );
        assert.equal(exitCodeForError(error), exitCode.noTarget);
        return true;
      });
      await bus.close();
      assert.equal(await lead!.read(subjects.log, `${subjects.lead}.3`), undefined);
      assert.equal(await lead!.read(subjects.log, subjects.view), undefined);
    });

    it('is not to have the bus write anywhere what it reads', async () => {
      const heard: string[] = [];
      const hear = (subject: string) => lead!.hear(subject, (text) => heard.push(text));
      const hearing = [subjects.stop, `${subjects.lead}.*`].map(hear);
      thief!.publish(`${subjects.lead}.9`, 'forged');
      const config = {
        ...{ deliver_subject: subjects.stop, deliver_policy: 'all', ack_policy: 'none' },
        ...{ name: 'forged', filter_subject: `${subjects.lead}.1` },
      };
      const create = `$JS.API.CONSUMER.CREATE.${stream}`;
      for (const subject of [create, `${create}.forged`, `${create}.forged.${subjects.lead}.1`])
        assert.equal(await ask(subject, { stream_name: stream, config }), undefined);
      await lead!.ask('nobody', '', 100);
      assert.deepEqual(heard, []);
      for (const each of hearing) each.dispose();
    });

    it('is not to read what others report, or what they are answered', async () => {
      await assert.rejects(agent!.follow(subjects.log, `${subjects.facts}.*`, () => undefined));
      assert.equal(await agent!.read(subjects.log, `${subjects.facts}.0`), undefined);
      const answers: string[] = [];
      const denied: string[] = [];
      for (const pattern of ['_INBOX.>', `${inboxPrefix(leadUser)}.>`, `${subjects.log}.>`])
        thief!.subscribe(pattern, {
          callback: (error, message) => {
            if (error) denied.push(error.message);
            else answers.push(message.string());
          },
        });
      await until('three refusals', () => denied.length === 3);
      const found: string[] = [];
      const following = await lead!.follow(subjects.log, `${subjects.facts}.*`, (text) =>
        found.push(text),
      );
      await until('the fact', () => found.length === 1);
      following.dispose();
      assert.deepEqual(answers, []);
      // What is asked for stands in the subject: another place of the stream is not given.
      const order = `$JS.API.DIRECT.GET.${stream}.${subjects.lead}.1`;
      assert.equal(await ask(order, ''), 'an order');
      for (const other of [{ seq: 2 }, { last_by_subj: `${subjects.facts}.0` }])
        assert.doesNotMatch((await ask(order, other)) ?? '', /a fact/);
      for (const api of ['DIRECT.GET', 'STREAM.MSG.GET', 'STREAM.INFO'])
        assert.equal(await ask(`$JS.API.${api}.${stream}`, { seq: 2 }), undefined);
    });

    it('is said where nobody waits for it, once', async () => {
      const said: string[] = [];
      const warn = (text: string): void => void said.push(text);
      const bus = await connectBus({ ...{ url: server.url, name: 'test', warn }, ...asAgent });
      for (let count = 0; count < 2; count++) bus.hear(subjects.stop, () => undefined);
      assert.equal(await bus.ask('other', '', 1000), undefined);
      await until('both', () => said.length === 2);
      await bus.close();
      assert.deepEqual(said, [
        'The bus refuses something: its user may not read signalr-bench.r1.stop; docs/machines.md lists the rights that it needs.',
        'The bus refuses something: its user may not write to other; docs/machines.md lists the rights that it needs.',
      ]);
    });

    it('needs its key', async () => {
      await assert.rejects(open(agentUser, 'wrong'), /cannot be used/);
    });
  });
