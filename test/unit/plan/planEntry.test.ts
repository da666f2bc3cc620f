import assert from 'node:assert/strict';
import { createPlanEntry } from '../../../src/plan/buildPlan';

const sending = { messageSize: 2048, sendingInterval: 500 };

describe('createPlanEntry', () => {
  it('reads intervals, sizes and contents', () => {
    const entry = createPlanEntry({
      name: 'echo',
      parameters: { ...sending, messageSizes: '256B 90%, 16KB 10%', payload: 'binary' },
    });
    assert.equal(entry.intervalMs, 500);
    assert.equal(entry.groups, undefined);
    assert.deepEqual(entry.payload, {
      content: 'binary',
      sizes: [
        { bytes: 256, weight: 90 },
        { bytes: 16_384, weight: 10 },
      ],
    });
  });

  it('reads groups, of which a connection joins no more than there are', () => {
    const parameters = { ...sending, groupCount: 3, groupsPerConnection: 5, sendersPer: 'group' };
    const entry = createPlanEntry({
      name: 'frequentJoinLeaveGroup',
      parameters: { ...parameters, joinLeaveInterval: 70, targets: 'random' },
    });
    assert.deepEqual(entry.groups, { count: 3, perConnection: 3, dealsSenders: true });
    assert.deepEqual([entry.moveIntervalMs, entry.targets], [70, 'random']);
  });

  it('measures arguments of the user’s own', () => {
    const entry = createPlanEntry({
      name: 'invoke',
      parameters: { method: 'M', arguments: '["abc"]', sendingInterval: 100 },
    });
    assert.deepEqual(entry.payload.sizes, [{ bytes: '["abc"]'.length, weight: 1 }]);
    assert.equal(entry.run.ownCall?.method, 'M');
  });

  it('has neither sizes nor an interval where nothing is sent', () => {
    const entry = createPlanEntry({ name: 'connectOnly', parameters: { rounds: 1 } });
    assert.deepEqual([entry.intervalMs, entry.payload.sizes], [0, []]);
  });

  it('is data that can be cloned', () => {
    const entry = createPlanEntry({
      name: 'sendToGroup',
      parameters: { ...sending, groupCount: 2 },
    });
    assert.deepEqual(structuredClone(entry), entry);
  });

  it('refuses a use case that is not there', () => {
    assert.throws(
      () => createPlanEntry({ name: 'nothing', parameters: {} }),
      /no use case nothing/,
    );
  });
});
