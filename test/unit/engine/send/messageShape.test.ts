import assert from 'node:assert/strict';
import {
  MessageRows,
  createRowCounter,
  RowTemplates,
  createMessageMaker,
} from '../../../../src/engine/send/messageShape';
import { planOf } from '../../../fakes/plan';
import type { Row } from '../../../../src/base/personalText';
import { argumentValue } from '../../../../src/wire/message/messageTemplate';
import { emptyStamp } from '../../../../src/wire/message/stamp';

const rows = Array.from({ length: 10 }, (_, id): Row => ({ id }));
const personal = {
  valuesOf: (index: number): Row => ({ user: `u${index}` }),
  dataOf: (index: number): Row => rows[index % rows.length]!,
};
const idsOf = (source: MessageRows, count: number): unknown[] =>
  Array.from({ length: count }, () => source.of(0).data?.['id']);

describe('the rows of messages', () => {
  it('are those of their sender', () => {
    const own = new MessageRows(personal, { rows, shared: false }, {}, 0);
    assert.deepEqual(own.of(13), { identity: { user: 'u13' }, data: { id: 3 } });
    assert.equal(own.areShared, false);
  });

  it('come again only when all have been, over the workers of an agent', () => {
    const memory = createRowCounter();
    const workers = [0, 1, 2].map(
      () => new MessageRows(personal, { rows, shared: true }, {}, 0, memory),
    );
    const taken = Array.from({ length: 20 }, (_, at) => idsOf(workers[at % 3]!, 1)[0]);
    assert.deepEqual(
      taken,
      [...rows, ...rows].map(({ id }) => id),
    );
    assert.deepEqual(workers[0]!.of(4, false), { identity: { user: 'u4' } });
  });

  it('are divided among agents without a rest, also where there are more agents than rows', () => {
    for (const agents of [2, 3, 4, 10]) {
      const all = Array.from({ length: agents }, (_, agent) => {
        const own = new MessageRows(personal, { rows, shared: true }, { agents }, agent);
        const count = Math.ceil((rows.length - agent) / agents);
        assert.deepEqual(idsOf(own, 2 * count).slice(count), idsOf(own, count), 'in a circle');
        return idsOf(own, count).map(Number);
      });
      assert.deepEqual(
        all.flat().sort((a, b) => a - b),
        rows.map(({ id }) => id),
      );
    }
    const late = new MessageRows(personal, { rows, shared: true }, { agents: 12 }, 11);
    assert.deepEqual(idsOf(late, 2), [1, 1]);
  });
});

describe('messages with values of rows', () => {
  const { entries } = planOf({
    useCase: 'invoke',
    parameters: {
      method: 'Say',
      arguments: JSON.stringify([
        ...['{identity.user}', '<{data.id}>', '{data.id}', '{data.text:number}'],
        { deep: ['{data.list}', '{senderIndex}'] },
      ]),
      reply: 'completion',
      sendingInterval: 100,
    },
  });
  const maker = createMessageMaker({ dialect: 'recordLatency', seed: 1 }, entries[0]!, 0)!;

  it('keep what a value is where it is all of an argument, and never read it as a placeholder', () => {
    const data = { id: 7, text: '1.5', list: ['{sender}', { a: null }] };
    const shape = maker.shape(0, false, { identity: { user: '{time}' }, data });
    const holes = {
      ...{ protocol: 'json' as const, stamp: emptyStamp(), nowMs: 0 },
      source: { index: 3 },
    };
    assert.deepEqual(
      shape.arguments.map((argument) => argumentValue(argument, holes)),
      ['{time}', '<7>', 7, 1.5, { deep: [['{sender}', { a: null }], 3] }],
    );
  });

  it('are encoded once for each sender, or for each message where rows are shared', () => {
    let asked = 0;
    const of = (sender: number): { data: Row } => {
      asked += 1;
      return { data: { id: sender, text: '1', list: [] } };
    };
    const source = { areShared: false, of, renewals: 0 };
    const own = new RowTemplates(maker, source);
    const first = own.of(1);
    assert.notEqual(own.of(2), first);
    assert.equal(own.of(1), first);
    assert.deepEqual([asked, own.rows.data?.['id']], [2, 1]);
    // Beyond its bound it begins anew.
    own.made(40 * 1024 * 1024);
    own.of(3);
    const again = own.of(1);
    assert.notEqual(again, first);
    assert.equal(own.of(1), again);
    // As tokens are, which may stand in a message.
    source.renewals += 1;
    assert.notEqual(own.of(1), again);
    const shared = new RowTemplates(maker, { ...source, areShared: true });
    assert.notEqual(shared.of(1), shared.of(1));
  });

  it('count the bytes they have', () => {
    const rowsOf = (text: string) => ({ data: { id: 1, text: '1', list: text } });
    assert.equal(maker.bytesBeyond(rowsOf('x'.repeat(500))) - maker.bytesBeyond(rowsOf('')), 500);
  });
});
