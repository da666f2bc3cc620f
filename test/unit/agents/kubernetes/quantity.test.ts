import assert from 'node:assert/strict';
import { quantityOf } from '../../../../src/agents/kubernetes/clusterView';

describe('an amount of Kubernetes', () => {
  it('is read as it is written', () => {
    const amounts: readonly (readonly [string, number])[] = [
      ...[['500m', 0.5] as const, ['2', 2] as const, ['1.5', 1.5] as const],
      ...[['64Mi', 67_108_864] as const, ['1Gi', 1_073_741_824] as const],
      ...[['1k', 1000] as const, ['1e3', 1000] as const, ['2E2', 200] as const],
      ...[['1E', 1e18] as const, ['128974848', 128_974_848] as const, ['-1', -1] as const],
    ];
    for (const [text, amount] of amounts) assert.equal(quantityOf(text), amount, text);
    for (const text of ['', 'Mi', '1 Gi', '1KB', 'x', undefined])
      assert.equal(quantityOf(text), undefined);
  });
});
