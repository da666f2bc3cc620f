import assert from 'node:assert/strict';
import { endAdvice } from '../../../../src/servers/appServer/serviceConnection';

describe('the advice on a server connection that is refused', () => {
  it('distinguishes a key that is wrong from a resource that takes none', () => {
    assert.match(endAdvice({ status: 401 }, false), /^Check the access key/);
    const forbidden = endAdvice({ status: 403 }, false);
    assert.match(forbidden, /Serverless mode.* access keys are disabled.* network access rules/);
    for (const status of [401, 403])
      assert.match(endAdvice({ status }, true), /^Assign the role SignalR App Server/);
  });
});
