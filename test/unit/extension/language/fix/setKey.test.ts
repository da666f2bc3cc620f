import assert from 'node:assert/strict';
import { outlineOf } from '../../../../../src/extension/language/outline/outline';
import { setKey, type TextChange } from '../../../../../src/extension/language/fix/setKey';

const unitIn = (text: string): TextChange | undefined =>
  setKey(text, outlineOf(text), ['config', 'unit'], '10');

describe('setKey', () => {
  it('replaces a value on the line of its key, whatever stands below it', () => {
    for (const rest of ['', '\n  sku: premium\n', '\n# more\n\nscenario:\n  name: echo\n']) {
      const change = unitIn(`config:\n  unit: 5${rest}`);
      assert.deepEqual(change, { offset: 16, length: 1, text: '10' }, rest);
    }
    assert.deepEqual(unitIn('config:\n  unit:\n  sku: free\n'), {
      offset: 15,
      length: 0,
      text: ' 10',
    });
    assert.equal(unitIn('config: {\n  unit: 5,\n    sku: free }\n')?.length, 1);
  });

  it('leaves a value alone that goes on below the line of its key', () => {
    for (const unit of [
      '\n    5',
      '\r\n    5',
      ' >-\n    5',
      ' |\n\n   5',
      ' # five\n # or\n    5',
      ' 5\n    6',
    ]) {
      assert.equal(unitIn(`config:\n  unit:${unit}\n`), undefined, unit);
    }
  });
});
