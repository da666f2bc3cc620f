import assert from 'node:assert/strict';
import fc from 'fast-check';
import { estimate } from '../../../../src/capacity/estimate';
import type { Estimate } from '../../../../src/capacity/model';
import type { Traffic } from '../../../../src/usecases/useCase';
import { samples } from '../traffics';
import { estimateVector, readVectors } from '../vectors';

const vectors = readVectors();
const vector = (id: string): Estimate =>
  estimateVector(vectors.find((candidate) => candidate.id === id)!.input);

const groups: Traffic = {
  kind: 'send_to_group',
  senders: 1900,
  intervalS: 1,
  messageBytes: 2048,
  groupMembers: 10,
};

describe('explanation', () => {
  const result = estimate({ product: 'signalr', connections: 1900, useCases: [groups] });

  it('names one limit, its share, its table and the guide', () => {
    assert.equal(result.unit, 10);
    assert.equal(
      result.binding.text,
      'outbound 19,000 of 20,000 msg/s (95 %, small group, guide of 2023-03)',
    );
    assert.deepEqual(result.binding.source, {
      document: 'sr2023',
      title: 'Performance guide for Azure SignalR Service',
      edition: '2023-03',
      heading: 'Case study > Default mode > Send to group > Small group',
      line: 314,
    });
  });

  it('shows the listed neighbours', () => {
    const rows = result.neighbours.map(({ unit, recommended, ...shares }) => [
      unit,
      recommended,
      ...Object.values(shares).map((share) => Number(share.toFixed(3))),
    ]);
    assert.deepEqual(rows, [
      [5, false, 0.38, 1.9, 1.9],
      [10, true, 0.19, 0.95, 0.95],
      [20, false, 0.095, 0.475, 0.475],
    ]);
  });

  it('shows the arithmetic', () => {
    assert.deepEqual(result.formula, [
      '1,900 senders × 1 msg/s × 10 members = 19,000 msg/s × 2 KB = 38 MB/s',
    ]);
  });

  it('cautions from 70 % on and says which size leaves room', () => {
    assert.equal(result.notes[0], 'Above the 70 % mark (traffic 95 %): Unit 20 leaves room.');
    assert.equal(result.advice, '3 app servers with 15 server connections each');
    const at70 = estimate({
      product: 'signalr',
      connections: 1000,
      useCases: [{ kind: 'echo', senders: 700, intervalS: 0.5, messageBytes: 2048 }],
    });
    assert.equal(at70.unit, 2);
    assert.equal(at70.notes[0], 'At the 70 % mark (traffic 70 %): Unit 3 leaves room.');
  });

  it('says nothing where there is nothing to say', () => {
    assert.deepEqual(vector('V02').notes, []);
  });

  it('names the misprint it does not follow', () => {
    assert.ok(
      result.notes.includes(
        'The guide prints 2,500 in, 25,000 out for Unit 10, small group; 2,000 in, 20,000 out is used (misprint I-08).',
      ),
    );
  });

  it('names it too where that size is refused, or others are derived from it', () => {
    const notesFor = (useCase: Partial<Traffic>, connections = 4000, headroom = 1): string =>
      estimate(
        { product: 'signalr', connections, useCases: [{ ...groups, ...useCase }] },
        { headroom },
      ).notes.join('\n');
    const smallGroup = /prints 2,500 in, 25,000 out for Unit 10, small group/;
    assert.match(notesFor({ senders: 2400 }), smallGroup);
    assert.match(notesFor({ senders: 1700 }, 4000, 0.7), smallGroup);
    assert.match(notesFor({ senders: 1700 }), smallGroup);
    // Unit 9 lies between 5 and 10; Unit 5 does; at Unit 20 it is the connections that need it.
    assert.match(notesFor({ senders: 1750 }), smallGroup);
    assert.doesNotMatch(notesFor({ senders: 900 }), smallGroup);
    assert.doesNotMatch(notesFor({ senders: 1900 }, 15_000), smallGroup);
    assert.match(
      notesFor({ senders: 30, groupMembers: 100 }, 1000),
      /prints 8 MBps out for Unit 1, big group/,
    );
  });

  it('says which size another edition has where this one has none', () => {
    const { unit, other_edition: other, notes } = vector('V21');
    assert.deepEqual([unit, other], [null, { edition: 'later', unit: 200 }]);
    assert.ok(
      notes.includes(
        'This guide ends at Unit 100; the edition "later" goes on, and by it the load takes Unit 200.',
      ),
    );
    const both = estimate({ product: 'signalr', connections: 1_500_000, useCases: [groups] });
    assert.ok(both.notes.some((note) => note.endsWith('but has none for this load either.')));
    assert.equal(
      estimate(
        { product: 'signalr', connections: 1_500_000, useCases: [groups] },
        { edition: 'later' },
      ).other_edition,
      undefined,
    );
  });

  it('prefers connections, then outbound bandwidth, on a tie', () => {
    assert.equal(vector('V08').binding.name, 'connections');
    assert.equal(vector('V10').binding.name, 'send_to_group.out_bandwidth');
    assert.equal(vector('V34').binding.name, 'send_to_group.in_bandwidth');
  });

  it('shows bandwidth where messages are not of 2,048 bytes, in the KB and MB of the guides', () => {
    assert.equal(
      vector('V05').binding.text,
      'outbound 409.6 of 400 MB/s (102 %, broadcast, guide of 2023-03)',
    );
    assert.deepEqual(vector('V07').formula, [
      '4 senders × 1 msg/s × 1,000 receivers = 4,000 msg/s × 1 KB (counted for 100 B) = 4 MB/s',
    ]);
  });

  it('adds up a mix', () => {
    assert.equal(
      vector('V31').binding.text,
      'outbound 8,000 of 9,000 msg/s (89 %, send to connection, guide of 2023-03); all use cases together 99 %',
    );
  });

  it('says why more units do not help', () => {
    const { notes } = vector('V09');
    assert.equal(
      notes[0],
      'More units do not help: small group outbound reaches its ceiling of 70,000 msg/s at Unit 50 and stays there up to Unit 100.',
    );
    assert.match(notes[1]!, /2 instances .* each group or conversation stays within one/);
  });

  it('says how many instances would do where a limit still grows', () => {
    assert.equal(
      vector('V21').notes[0],
      '150,000 connections are more than the 100,000 of Unit 100, the largest size of this guide.',
    );
    assert.match(vector('V21').notes[1]!, /^Split evenly it would take 2 instances/);
    assert.match(vector('V32').notes[0]!, /^Traffic would be 180 % of Unit 100/);
  });

  it('passes assumptions on', () => {
    const { notes } = estimate({
      product: 'signalr',
      connections: 10,
      useCases: [{ ...groups, senders: 0 }],
      assumptions: ['As it is.'],
    });
    assert.deepEqual(notes, ['As it is.']);
  });

  it('has a sentence for every warning and finite numbers throughout', () => {
    fc.assert(
      fc.property(samples, ({ input, options }) => {
        const estimated = estimate(input, options);
        assert.ok(estimated.notes.length >= (estimated.warnings.length > 0 ? 1 : 0));
        const said = estimated.warnings.filter((warning) => warning !== 'more-units-do-not-help');
        assert.ok(estimated.notes.length >= said.length);
        assert.ok(estimated.notes.every((note) => /^[A-Z0-9].*\.$/.test(note)));
        assert.doesNotMatch(JSON.stringify(estimated), /NaN|Infinity|undefined/);
        assert.equal(estimated.unit === null, !estimated.neighbours.some((n) => n.recommended));
      }),
      { numRuns: 80 },
    );
  });
});
