import assert from 'node:assert/strict';
import { hasPlace } from '../../../../../src/extension/language/outline/hasPlace';

describe('hasPlace', () => {
  it('knows what people work on, and leaves out what is only shown', () => {
    for (const scheme of ['file', 'untitled', 'vscode-remote']) assert.ok(hasPlace(scheme, []));
    for (const scheme of ['git', 'output', 'vscode-userdata', 'x']) {
      assert.equal(hasPlace(scheme, ['file']), false, scheme);
    }
    assert.ok(hasPlace('vscode-vfs', ['vscode-vfs']));
  });
});
