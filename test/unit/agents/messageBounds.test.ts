import assert from 'node:assert/strict';
import {
  cutForBus,
  readAlive,
  readBeat,
  readFact,
  readJoinAnswer,
  readJoinQuestion,
  readMember,
  readOrder,
  readViewMessage,
} from '../../../src/agents/messages';

const short = 'x'.repeat(2000);
const long = `${short}x`;
const huge = '-eyJ'.repeat(200_000);
const startedAt = '2026-01-01T00:00:00Z';

const order = {
  ...{ type: 'run', text: '', overrides: [], files: {}, workersEach: 1, runId: 7, seed: 1 },
  ...{ dialect: 'auto', planHash: 'h', originUs: 0, startedAt },
};
const member = { epoch: 'e', host: 'h', cores: 1, fileDescriptors: null, localPorts: null };
const fact = { epoch: 'e', number: 1, open: 0, cpuUs: 0 };
const title = { number: 1, type: 'title', file: 'f', text: '', startedAt, url: 'u' };

type Read = (text: string) => unknown;
const ofOrder = (change: object): object => ({ number: 1, order: { ...order, ...change } });

const texts: Readonly<Record<string, [Read, (text: string) => object]>> = {
  'the refusal of an agent': [readJoinAnswer, (refused) => ({ refused })],
  'the id of a run': [readJoinAnswer, (run) => ({ run, agents: 1 })],
  'who a beat is of': [readBeat, (epoch) => ({ epoch, facts: 0, orders: 0, clockErrorUs: 0 })],
  'the type of an order': [readOrder, (type) => ({ number: 1, order: { type } })],
  'a dialect': [readOrder, (dialect) => ofOrder({ dialect })],
  'the hash of a plan': [readOrder, (planHash) => ofOrder({ planHash })],
  'the clock of an order': [readOrder, (clock) => ofOrder({ clock })],
  'the hub that was started': [readOrder, (startedHub) => ofOrder({ startedHub })],
  'a key of an override': [readOrder, (path) => ofOrder({ overrides: [{ path, value: '1' }] })],
  'who a fact is of': [readFact, (epoch) => ({ ...fact, epoch, said: { final: true } })],
  'why an agent cannot go on': [readFact, (failed) => ({ ...fact, said: { failed } })],
  'why an agent leaves': [readFact, (leaving) => ({ ...fact, said: { leaving } })],
  'the node of a view': [
    readViewMessage,
    (node) => ({ number: 1, type: 'gathered', nodes: [node], agents: 1 }),
  ],
  'the file of a title': [readViewMessage, (file) => ({ ...title, file })],
  'the target of a title': [readViewMessage, (url) => ({ ...title, url })],
  'why a run has no result': [readViewMessage, (text) => ({ number: 1, type: 'failed', text })],
};

describe('a text on the bus', () => {
  for (const [what, [read, write]] of Object.entries(texts))
    it(`is not read where it is longer than 2,000 characters: ${what}`, () => {
      assert.ok(read(JSON.stringify(write(short))));
      for (const text of [long, huge]) assert.equal(read(JSON.stringify(write(text))), undefined);
    });

  it('has the length of a name where it is one', () => {
    const question = { toolVersion: '1' };
    for (const [read, write] of [
      [readMember, (host: string) => ({ ...member, host })],
      [readMember, (node: string) => ({ ...member, node })],
      [readMember, (clock: string) => ({ ...member, clock })],
      [readJoinQuestion, (id: string) => ({ ...question, id })],
      [readJoinQuestion, (host: string) => ({ ...question, host })],
    ] as const) {
      assert.ok(read(JSON.stringify(write('x'.repeat(255)))));
      assert.equal(read(JSON.stringify(write('x'.repeat(256)))), undefined);
    }
    const toolVersion = 'x'.repeat(41);
    assert.equal(readJoinQuestion(JSON.stringify({ toolVersion })), undefined);
  });

  it('may be as long as a message where it is the content of a file or of a result', () => {
    const scenario = 'x'.repeat(900_000);
    for (const [read, message] of [
      [readOrder, ofOrder({ text: scenario })],
      [readOrder, ofOrder({ files: { a: scenario } })],
      [readOrder, ofOrder({ overrides: [{ path: 'p', value: scenario }] })],
      [readViewMessage, { ...title, text: scenario }],
      [readViewMessage, { number: 1, type: 'snapshot', snapshot: scenario }],
      [readViewMessage, { number: 1, type: 'result', isFirst: true, isLast: true, text: scenario }],
    ] as const) {
      assert.ok(read(JSON.stringify(message)));
      assert.equal(read(JSON.stringify({ ...message, more: 'x'.repeat(100_000) })), undefined);
    }
    assert.ok(readAlive('{}'));
    assert.equal(readAlive(JSON.stringify({ more: 'x'.repeat(1_000_000) })), undefined);
  });

  it('is cut where it is written, with room for marks in the place of secrets', () => {
    assert.equal(cutForBus(huge), `${huge.slice(0, 1000)}…`);
    assert.equal(cutForBus('short'), 'short');
  });
});
