import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import {
  adviceForError,
  complaintWords,
  parseHubComplaint,
} from '../../../../src/measure/judge/hubComplaint';

const missing = (method: string): string =>
  `Failed to invoke '${method}' due to an error on the server. HubException: Method does not exist.`;
const threw = (method: string): string =>
  `An unexpected error occurred invoking '${method}' on the server.`;

describe('what a hub complains about', () => {
  it('is read from the texts of ASP.NET Core', () => {
    for (const [text, method, kind] of [
      [missing('Echo'), 'Echo', 'missing'],
      [`JoinGroup: ${missing('JoinGroup')}`, 'JoinGroup', 'missing'],
      ["Unknown hub method 'Echo'", 'Echo', 'missing'],
      ["Failed to invoke 'Echo' due to an error on the server.", 'Echo', 'arguments'],
      [threw('SendToClient'), 'SendToClient', 'failed'],
      [`${threw('Own')} InvalidCastException: no`, 'Own', 'failed'],
    ] as const)
      assert.deepEqual(parseHubComplaint(text), { method, kind });
    assert.equal(parseHubComplaint("Failed to invoke 'X' because user is unauthorized"), undefined);
  });

  it('is said in words', () => {
    assert.equal(say(complaintWords({ method: 'M', kind: 'missing' })), 'the hub has no method M');
  });

  it('comes with advice for methods that the scenario names, and for what it waits for', () => {
    const other = "Failed to invoke 'Echo' due to an error on the server.";
    assert.match(
      adviceForError('invocation', [other], true),
      /Correct `arguments` in the scenario/,
    );
    assert.match(adviceForError('invocation', [missing('Echo')], true), /Correct the name/);
    // What is missing comes first.
    assert.match(adviceForError('invocation', [other, missing('Nope')]), /Correct the name/);
    for (const text of [
      'Ready: the hub did not call it within 2 s',
      'A: no answer within 2 s',
      'Count: the stream was not completed within 2 s',
    ]) {
      assert.match(adviceForError('timeout', [text]), /raise `within`/);
      assert.doesNotMatch(adviceForError('timeout', [text]), /connectTimeout/);
    }
    assert.match(adviceForError('timeout', ['negotiate: no answer in 10 s']), /connectTimeout/);
  });

  it('comes with advice that fits the cause where the sentence shows it', () => {
    assert.doesNotMatch(adviceForError('tls', ['negotiate: self-signed certificate']), /http:/);
    assert.match(adviceForError('tls', ['negotiate: the port does not speak TLS']), /^Write http:/);
    assert.match(adviceForError('tls', ['x']), /`certFile` and `keyFile`/);
    assert.match(adviceForError('notFound', ['negotiate: http://h/x answered 404']), /MapHub/);
    assert.match(
      adviceForError('notFound', ['negotiate: http://h/x answered 404', 'poll: 404']),
      /From a later request/,
    );
    const role = "Failed to invoke 'Echo' because user is unauthorized";
    assert.match(adviceForError('invocation', [role]), /may call this method/);
    const other = "Failed to invoke 'Echo' due to an error on the server.";
    assert.match(
      adviceForError('invocation', [other]),
      /taken for one with Echo\(ticks, payload\)/,
    );
  });

  it('comes with advice that fits the method', () => {
    const advice = (text: string): string => adviceForError('invocation', [text]);
    assert.match(advice(missing('JoinGroup')), /doctor --target URL/);
    assert.match(advice(missing('Nope')), /Correct the name in the scenario/);
    assert.doesNotMatch(advice(missing('Nope')), /doctor/);
    assert.match(
      advice(threw('SendToClient')),
      /write data\["information\.ConnectionId"\]\.ToString\(\) in place of \(string\)data/,
    );
    assert.match(advice(threw('SendToGroup')), /data\["information\.GroupName"\]\.ToString\(\)/);
    assert.match(advice(threw('Own')), /EnableDetailedErrors/);
    assert.match(advice('refused'), /signalr-bench doctor/);
    assert.match(adviceForError('refused', ['x']), /Start the server/);
  });

  it('speaks of ASP.NET Core where a hub closed, and of the size where that was the reason', () => {
    const gone = ['closed with code 1011'];
    assert.match(adviceForError('closed', gone), /MaximumReceiveMessageSize/);
    assert.equal(adviceForError('closed', gone, false, 'webpubsub'), 'See the log of the server.');
    for (const service of ['hub', 'webpubsub'] as const)
      assert.match(
        adviceForError('closed', ['closed with code 1009'], false, service),
        /^A message was larger than the other side takes: send less at a time\.$/,
      );
  });
});
