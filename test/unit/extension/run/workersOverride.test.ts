import assert from 'node:assert/strict';
import { workersOverride } from '../../../../src/extension/run/runTexts';

describe('workersOverride', () => {
  const set = [{ path: 'config.workers', value: '3' }];

  it('is the setting where the scenario names no workers', () => {
    assert.deepEqual(workersOverride('config:\n  target: local\n', 3), set);
    assert.deepEqual(workersOverride('config: {target: local}\n# workers: 2\n', 3), set);
    assert.deepEqual(workersOverride('config:\n  target: local\n', 0), []);
  });

  it('gives way to a scenario that names its own, however it is written', () => {
    for (const config of [
      '\n  workers: 2\n',
      ' {target: local, workers: 2}\n',
      '\n  "workers": 2\n',
    ]) {
      assert.deepEqual(workersOverride(`config:${config}`, 3), [], config);
    }
  });

  it('hides no mistake of the file', () => {
    assert.deepEqual(workersOverride('config:\n  workers: many\n', 3), []);
  });
});
