import assert from 'node:assert/strict';
import { findingsTable } from '../../../../src/record/analyse/findings';
import { analysed, MadeRecording } from './madeRecording';

describe('secrets in a recording', () => {
  it('writes references where secrets were, and no secret', async () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0';
    const secrets = [
      token,
      'hunter2',
      '4f3c2b1a09f8e7d6c5b4a39281706f5e',
      'aB3xY7kL9mN2pQ4rS6tU8vW0zZ',
    ];
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made
        .at(client)
        .open(client, { token: true, cookies: true, query: ['id', 'access_token', 'tenant'] });
      made.wait(5).call(client, 'SignIn', [{ user: `u${client}`, password: secrets[1] }, token]);
      made.wait(50).call(client, 'Use', [secrets[2], [secrets[3]]]);
    }
    const { yaml, file, found } = await analysed(made);
    for (const secret of secrets) assert.ok(!yaml.includes(secret), secret);
    for (const secret of secrets) assert.ok(!JSON.stringify(found).includes(secret), secret);
    assert.equal(file.config['accessToken'], '${secret:chat}');
    assert.deepEqual(file.config['headers'], { Cookie: '${secret:chat-cookie}' });
    assert.deepEqual(file.config['query'], { tenant: '${secret:tenant}' });
    const [row] = file.config['identities'] as readonly Record<string, string>[];
    assert.deepEqual(
      Object.values(row!).sort((a, b) => a.localeCompare(b)),
      [...['${secret:password}', '${secret:SignIn2}', '${secret:Use1}', '${secret:Use2}']],
    );
  });

  it('gives clients whose secrets differ a reference each', async () => {
    const made = new MadeRecording();
    for (const [at, password] of ['hunter2', 'swordfish', 'hunter2'].entries()) {
      const client = at + 1;
      made.at(client).open(client).wait(5);
      made.call(client, 'SignIn', [{ password, pin: `481${client}` }]).wait(5);
      made.call(client, 'Change', [{ password, newPassword: 'the same for all' }]);
    }
    const { yaml, file, found, steps } = await analysed(made);
    for (const secret of ['hunter2', 'swordfish', '4811', 'the same'])
      assert.ok(!yaml.includes(secret), secret);
    const row = (password: number, pin: number): object => ({
      password: `\${secret:password-${password}}`,
      pin: `\${secret:pin-${pin}}`,
      newPassword: '${secret:newPassword}',
    });
    assert.deepEqual(file.config['identities'], [row(1, 1), row(2, 2), row(1, 3)]);
    const used = JSON.stringify(steps.map((step) => step['arguments']));
    assert.equal(used.split('{identity.password}').length, 3, used);
    assert.deepEqual(found.secrets, [
      ...['password-1', 'password-2', 'pin-1', 'pin-2', 'pin-3', 'newPassword'],
    ]);
  });

  it('writes random text where what looks like a secret comes back', async () => {
    const made = new MadeRecording();
    for (let round = 0; round < 4; round++) {
      const stamp = `aB3xY7kL9mN2pQ4rS6tU8vW0z${round}`;
      if (round === 0) made.at(1).open(1);
      made.wait(50).send(1, 'Echo', [stamp]).heard([1], 'Echoed', [stamp]);
    }
    const { steps, found } = await analysed(made);
    const [text] = steps[0]!['arguments'] as readonly string[];
    assert.match(text!, /^\{text:\d+B\}$/);
    assert.deepEqual(found.secrets, []);
  });

  it('asks for no secret where a text is none, or another each time', async () => {
    const key = 'aB3xY7kL9mN2pQ4rS6tU8vW0z';
    const stamp = `SB1${'0123456789abcdef'.repeat(4).slice(0, 51)}`;
    const made = new MadeRecording();
    for (const client of [1, 2]) made.at(client).open(client, { token: true });
    for (let round = 0; round < 4; round++)
      for (const client of [1, 2]) {
        made.at(100 * round + 10 * client);
        const image = `${key}${round}`.repeat(20);
        const own = { 'bench.Stamp': stamp, 'payload.MessageBlob': key };
        made.send(client, 'Work', [`${key}${client}${round}`, image, own, `${stamp}${key}`, key]);
      }
    const { steps, found, yaml } = await analysed(made);
    const own = { 'bench.Stamp': '{text:54B}', 'payload.MessageBlob': '{text:25B}' };
    const expected = [...['{text:27B}', '{text:520B}'], own, '{text:79B}', '{identity.Work5}'];
    assert.deepEqual(steps[0]!['arguments'], expected);
    assert.deepEqual(found.secrets, ['chat', 'Work5']);
    assert.match(
      yaml.replace(/\n\s*# */g, ' '),
      /argument 5: a text that looks like a key was seen, it is not written here; if it is none, write \{text:25B\}/,
    );
    assert.match(
      yaml,
      /# 2 clients came with a token, none is written here; this one stands for all/,
    );
  });

  it('writes no text that holds a secret, wherever it stands in it', async () => {
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
    const secrets = [
      ['Use', 'Endpoint=https://x.example;SharedAccessKey=abcdEFG12345='],
      ['Use', 'Server=db;User Id=sa;Password=Secr3t!x'],
      ['Open', 'https://x.example/blob?sv=2022&sig=Zm9vYmFy'],
      ['Open', 'https://x.example/hub?access_token=abc123def'],
      ['Open', 'https://user:pa55w0rd@x.example/'],
      ['Say', `my token is ${jwt} ok`],
      ['Say', '{"password":"qwe123"}'],
      ['Say', '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----'],
      ['Say', 'AKIAABCDEFGHIJKLMNOP'],
    ] as const;
    for (const [method, text] of secrets) {
      const made = new MadeRecording().open(1);
      for (let at = 1; at <= 3; at++) made.at(100 * at).call(1, method, [text]);
      const { yaml } = await analysed(made);
      assert.match(yaml, /\{text:\d+B\}|\{identity\./, text);
      for (const piece of text
        .split(/[^\w!.-]+/)
        .filter((word) => /\d/.test(word) && word !== '2022'))
        assert.ok(!yaml.includes(piece), `${piece} of ${text}`);
    }
    const made = new MadeRecording()
      .open(1)
      .wait(5)
      .call(1, 'Put', [{ [jwt]: 1, other: 2 }]);
    const { yaml } = await analysed(made);
    assert.ok(!yaml.includes(jwt) && yaml.includes('other'));
  });

  it('takes what a client is let in with for a secret, but for the name before it', async () => {
    const made = new MadeRecording().open(1).wait(5).call(1, 'Login', ['ann', 'Pa$$w0rd']);
    made.wait(5).call(1, 'SetApiKey', ['zxy']).wait(5).call(1, 'Rename', ['ann', 'bob']);
    const { yaml } = await analysed(made);
    assert.match(yaml, /arguments: \[ ann, '\{identity\./);
    assert.match(yaml, /arguments: \[ ann, bob \]/);
    assert.ok(!yaml.includes('Pa$$w0rd') && !yaml.includes('zxy'));
  });

  it('says that one client had several secrets', async () => {
    const made = new MadeRecording().open(1);
    for (const [at, password] of ['one', 'two', 'one', 'two', 'two'].entries())
      made.at(100 * (at + 1)).call(1, 'SignIn', [{ password }]);
    const { yaml, found } = await analysed(made);
    assert.deepEqual(found.secrets, ['password']);
    assert.match(
      yaml.replace(/\n\s*# */g, ' '),
      /argument 1, password: 2 secrets were seen, they are not written here; one reference stands for all/,
    );
  });

  it('does not ask for more secrets than people set by hand', async () => {
    const made = new MadeRecording();
    for (let client = 1; client <= 21; client++)
      made
        .at(client)
        .open(client)
        .wait(5)
        .call(client, 'SignIn', [{ password: `p${client}` }]);
    const { found, yaml } = await analysed(made);
    assert.deepEqual(found.secrets, ['password']);
    assert.match(
      yaml.replace(/\n\s*#/g, ''),
      /21 secrets were seen, they are not written here; one reference stands for all: write rows/,
    );
  });

  it('takes numbers of cards and codes of payments for secrets, by name and by their digits', async () => {
    const made = new MadeRecording();
    const card = '4111111111111111';
    made
      .at(1)
      .open(1)
      .wait(5)
      .call(1, 'Pay', [{ userPin: '4711', creditCard: card, note: 'pinned', number: 12 }])
      .call(1, 'Say', ['5500 0000 0000 0004', '4111111111111112', { isPin: true }]);
    const { yaml, steps } = await analysed(made);
    for (const secret of ['4711', card, '5500 0000']) assert.ok(!yaml.includes(secret), secret);
    assert.match(JSON.stringify(steps), /"note":"pinned","number":12/);
    assert.match(JSON.stringify(steps), /"4111111111111112",\{"isPin":true\}/);
  });

  it('says what is to be set for secrets, and one client in the singular', async () => {
    const made = new MadeRecording().at(1).open(1, { token: true }).wait(5).call(1, 'Get', []);
    const { found } = await analysed(made);
    const lines = findingsTable(found, 80, (name) => `SECRET_${name.toUpperCase()}`).join('\n');
    assert.match(lines, /^1 client of 1 kind, /);
    assert.match(lines, /not written: set SECRET_CHAT\.$/);
  });

  it('writes references for keys in the path of the hub', async () => {
    const key = 'Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg';
    const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl';
    const made = new MadeRecording();
    made
      .open(1, { path: `/t/${key}/of-ann/${jwt}/chat` })
      .wait(5)
      .call(1, 'Get', []);
    const { yaml, file, found } = await analysed(made);
    assert.equal(
      file.config['target'],
      'http://localhost:5050/t/${secret:hub-path}/of-ann/${secret:hub-path-2}/chat',
    );
    assert.ok(!yaml.includes(key) && !yaml.includes(jwt), yaml);
    assert.deepEqual(found.secrets, ['hub-path', 'hub-path-2']);
    assert.ok(!JSON.stringify(found).includes(key));
  });

  it('gives clients that came with different tokens one each', async () => {
    const made = new MadeRecording();
    for (const [client, tokenNumber] of [1, 2, 1].entries())
      made.at(client).open(client, { token: true, tokenNumber }).call(client, 'Get', []);
    const { file, found } = await analysed(made);
    assert.equal(file.config['accessToken'], undefined);
    assert.deepEqual(
      file.config['identities'],
      [1, 2, 1].map((number) => ({ token: `\${secret:chat-${number}}` })),
    );
    assert.deepEqual(found.secrets, ['chat-1', 'chat-2']);
  });

  for (const [what, numbers] of [
    ['the same', [1, 1]],
    ['more than people set', Array.from({ length: 21 }, (_, at) => at + 1)],
  ] as const)
    it(`gives all clients one token where those seen were ${what}`, async () => {
      const made = new MadeRecording();
      for (const [client, tokenNumber] of numbers.entries())
        made.at(client).open(client, { token: true, tokenNumber }).call(client, 'Get', []);
      const { file } = await analysed(made);
      assert.equal(file.config['accessToken'], '${secret:chat}');
      assert.equal(file.config['identities'], undefined);
    });
});
