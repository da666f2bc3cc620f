import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import { firstErrorWords, couldNotConnectWords } from '../../../../src/measure/judge/hubComplaint';

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
    const hub = 'http://127.0.0.1:5999/hub';
    const cases = [
      [
        'refused',
        'negotiate: connect ECONNREFUSED 127.0.0.1:5999',
        'nothing listens on 127.0.0.1:5999',
      ],
      ['refused', 'connection refused by the proxy', 'nothing listens on hub.example:443'],
      [
        'dns',
        'negotiate: getaddrinfo ENOTFOUND hub.invalid',
        'the host name hub.invalid was not found',
      ],
      ['dns', 'getaddrinfo EAI_AGAIN hub.invalid', 'the host name hub.invalid was not found'],
      [
        'unreachable',
        'connect EHOSTUNREACH 10.0.0.1:80',
        '10.0.0.1:80 cannot be reached from this machine',
      ],
      [
        'notFound',
        `negotiate: ${hub}/negotiate answered 404 Not Found`,
        `there is no hub at ${hub} (404)`,
      ],
      [
        'unauthorized',
        `negotiate: ${hub}/negotiate answered 401 Unauthorized`,
        `${hub} denies access (401)`,
      ],
      [
        'unauthorized',
        `negotiate: ${hub}/negotiate answered 401: The access token has expired.`,
        `${hub} denies access (401: The access token has expired)`,
      ],
      ['unauthorized', `upgrade: ${hub} answered 403 Forbidden`, `${hub} denies access (403)`],
      [
        'timeout',
        `negotiate: no answer from ${hub}/negotiate in time`,
        `${hub} did not answer in time`,
      ],
      [
        'tls',
        'negotiate: the port does not speak TLS',
        'TLS with hub.example:443 failed (the port does not speak TLS)',
      ],
      [
        'tls',
        'self-signed certificate',
        'the certificate of hub.example:443 is not trusted (self-signed certificate)',
      ],
      [
        'negotiate',
        `negotiate: ${hub}/negotiate answered 500 Oh`,
        `${hub}/negotiate answered 500 Oh`,
      ],
    ] as const;
    for (const [errorClass, text, plain] of cases)
      assert.equal(words(errorClass, text), `Could not connect: ${plain}`);
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
