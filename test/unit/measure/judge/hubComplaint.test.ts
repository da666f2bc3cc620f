import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import {
  firstErrorWords,
  couldNotConnectWords,
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

describe('the first error of a run', () => {
  it('is reported with what to do about it', () => {
    const words = firstErrorWords([{ errorClass: 'refused', text: 'nobody there.' }]);
    assert.match(words, /^First error: refused: nobody there\. Start the server/);
    assert.equal(firstErrorWords([]), 'The target did not answer.');
  });

  it('names the files of a client certificate where a server may want one', () => {
    const text = 'tlsv13 alert certificate required';
    assert.match(firstErrorWords([{ errorClass: 'tls', text }]), /`certFile` and `keyFile`/);
  });

  it('is that of a server of the run, which has caused the others', () => {
    const errors = ['closed', 'ownServer'].map((errorClass) => ({ errorClass, text: 'gone' }));
    assert.match(firstErrorWords(errors), /^First error: ownServer: gone\./);
  });
});

describe('a target that let nobody in', () => {
  const words = (errorClass: string, text: string): string =>
    say(couldNotConnectWords([{ errorClass, text }], 'hub.example:443')).split('. ')[0]!;

  it('is named in a plain sentence, whatever went wrong', () => {
    // Class of the error, its text, and what is said.
    const cases = `
      refused | negotiate: connect ECONNREFUSED 127.0.0.1:5999 | nothing listens on 127.0.0.1:5999
      refused | connection refused by the proxy | nothing listens on hub.example:443
      dns | negotiate: getaddrinfo ENOTFOUND hub.invalid | the host name hub.invalid was not found
      dns | getaddrinfo EAI_AGAIN hub.invalid | the host name hub.invalid was not found
      unreachable | connect EHOSTUNREACH 10.0.0.1:80 | 10.0.0.1:80 cannot be reached from this machine
      notFound | negotiate: http://h/negotiate answered 404 Not Found | there is no hub at http://h (404)
      unauthorized | negotiate: http://h/negotiate answered 401 Unauthorized | http://h denies access (401)
      unauthorized | negotiate: http://h/negotiate answered 401: Expired. | http://h denies access (401: Expired)
      unauthorized | upgrade: http://h answered 403 Forbidden | http://h denies access (403)
      timeout | negotiate: no answer from http://h/negotiate in time | http://h did not answer in time
      tls | negotiate: the port does not speak TLS | TLS with hub.example:443 failed (the port does not speak TLS)
      tls | self-signed certificate | the certificate of hub.example:443 is not trusted (self-signed certificate)
      negotiate | negotiate: http://h/negotiate answered 500 Oh | http://h/negotiate answered 500 Oh`;
    for (const line of cases.trim().split('\n')) {
      const [errorClass, text, plain] = line.trim().split(' | ') as [string, string, string];
      assert.equal(words(errorClass, text), `Could not connect: ${plain}`);
    }
  });

  it('is blamed with what to do, and without a word from it', () => {
    const refused = [{ errorClass: 'refused', text: 'connect ECONNREFUSED [::1]:80' }];
    assert.equal(
      say(couldNotConnectWords(refused, 'x')),
      'Could not connect: nothing listens on [::1]:80. Start the server, or correct the port in the target.',
    );
    assert.equal(
      say(couldNotConnectWords([], 'x')),
      'Could not connect: the target did not answer.',
    );
  });
});
