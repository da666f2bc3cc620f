import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Recorder } from '../../../../src/record/proxy/recorder';
import type { WrittenEvent } from '../../../../src/record/recording';

describe('tokens of recorded clients', () => {
  it('are numbered, wherever they stand, and not kept', () => {
    const events: WrittenEvent[] = [];
    const recorder = new Recorder((event) => events.push(event));
    const open = (path: string, authorization?: string): void =>
      recorder
        .client(
          { headers: { ...(authorization !== undefined && { authorization }) } } as IncomingMessage,
          new URL(path, 'http://localhost/'),
          ...(['WebSockets', 'signalr'] as const),
        )
        .opened('json');
    open('/chat', 'Bearer hunter2-of-ann');
    open('/chat?access_token=hunter2-of-bob');
    open('/chat?access_token=hunter2-of-ann');
    open('/chat');
    // A service gives each client one of its own.
    open('/client/?hub=chat&access_token=hunter2-of-the-service');
    assert.deepEqual(
      events.map((event) => event.ev === 'open' && event.tokenNumber),
      [1, 2, 1, undefined, undefined],
    );
    assert.doesNotMatch(JSON.stringify(events), /hunter2/);
  });
});
