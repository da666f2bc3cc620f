import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Recorder } from '../../../../src/record/proxy/recorder';
import type { OpenEvent } from '../../../../src/record/recording';

describe('tokens of recorded clients', () => {
  const opened: OpenEvent[] = [];
  const recording = (target?: string): Recorder =>
    new Recorder(
      (event) => {
        if (event.ev === 'open') opened.push(event);
      },
      target === undefined ? undefined : new URL(target),
    );
  const open = (recorder: Recorder, url: string, authorization?: string): void => {
    const request = { headers: { authorization } } as IncomingMessage;
    const way = ['WebSockets', 'signalr'] as const;
    recorder.client(request, new URL(url, 'http://localhost/'), ...way).opened('json');
  };
  beforeEach(() => (opened.length = 0));

  it('are numbered, wherever they stand, and not kept', () => {
    const recorder = recording();
    open(recorder, '/chat', 'Bearer hunter2-of-ann');
    open(recorder, '/chat?access_token=hunter2-of-bob');
    open(recorder, '/chat?access_token=hunter2-of-ann');
    open(recorder, '/chat');
    // A service gives each client one of its own.
    open(recorder, '/client/?hub=chat&access_token=hunter2-of-the-service');
    const numbers = opened.map(({ tokenNumber }) => tokenNumber);
    assert.deepEqual(numbers, [1, 2, 1, undefined, undefined]);
    assert.doesNotMatch(JSON.stringify(opened), /hunter2/);
  });

  it('are those of the application alone, where a service gives its clients others', () => {
    const recorder = recording();
    const negotiate = (path: string, name: string): void =>
      recorder.negotiated([name], new URL(path, 'http://localhost'));
    const client = '/client/?hub=chat&access_token=hunter2';
    negotiate('/chat/negotiate', 'content-type');
    negotiate('/client/negotiate?hub=chat', 'authorization');
    open(recorder, client);
    negotiate('/chat/negotiate', 'authorization');
    open(recorder, client);
    assert.deepEqual(
      opened.map(({ token, query }) => [token, query]),
      [
        [undefined, ['hub']],
        [true, ['hub']],
      ],
    );
  });

  it('are those of a hub of the application, whatever its path', () => {
    const recorder = recording('http://localhost:5000/app');
    open(recorder, 'http://localhost:5000/clients/chat?access_token=hunter2');
    const [{ token, tokenNumber, query }] = opened as [OpenEvent];
    assert.deepEqual([token, tokenNumber, query], [true, 1, ['access_token']]);
  });
});
