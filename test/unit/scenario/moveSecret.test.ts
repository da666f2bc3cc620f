import assert from 'node:assert/strict';
import { moveSecret } from '../../../src/scenario/moveSecret';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { problemOf, withConfig } from './parsed';

const token = 'eyJhbGciOi.eyJzdWIi.c2ln';
const hub = 'https://user:pw123@a.example/hub';
const inTarget = (lines: string): string => `config:\n  target:${lines}\n`;

/** The text after its only secret was moved, and what was moved. */
function moved(text: string, name = 'demo'): { text: string; secret: string } | undefined {
  const move = moveSecret(text, problemOf(text, 'secret-in-file'), name);
  if (move === undefined) return undefined;
  const { offset, length, secret } = move;
  return { text: text.slice(0, offset) + move.text + text.slice(offset + length), secret };
}

describe('moveSecret', () => {
  const reference = '${secret:demo}';
  const shapes: Readonly<Record<string, readonly [string, string, string]>> = {
    'a token without quotes': [
      withConfig(`accessToken: ${token}`),
      withConfig(`accessToken: ${reference}`),
      token,
    ],
    'a token in quotes': [
      withConfig(`accessToken: "${token}"`),
      withConfig(`accessToken: "${reference}"`),
      token,
    ],
    'a token in single quotes': [
      withConfig(`accessToken: '${token}'`),
      withConfig(`accessToken: '${reference}'`),
      token,
    ],
    'a token with escapes': [
      withConfig('accessToken: "ab\\u0063d"'),
      withConfig(`accessToken: "${reference}"`),
      'abcd',
    ],
    'a token on lines of its own': [
      withConfig('accessToken: >', `  ${token}`, 'unit: 1'),
      withConfig(`accessToken: ${reference}`, 'unit: 1'),
      token,
    ],
    'a token behind an anchor': [
      withConfig(`accessToken: &token ${token}`, 'query: { t: *token }'),
      withConfig(`accessToken: &token ${reference}`, 'query: { t: *token }'),
      token,
    ],
    'a token in braces': [
      `config: { target: local, accessToken: ${token} }\n`,
      `config: { target: local, accessToken: "${reference}" }\n`,
      token,
    ],
    'a header on a line of its own': [
      withConfig('headers:', `  Authorization: Bearer ${token}`),
      withConfig('headers:', `  Authorization: ${reference}`),
      `Bearer ${token}`,
    ],
    'a header in braces': [
      withConfig(`headers: { Authorization: Bearer ${token} }`),
      withConfig(`headers: { Authorization: "${reference}" }`),
      `Bearer ${token}`,
    ],
    'a URL with a password': [inTarget(` ${hub}`), inTarget(` ${reference}`), hub],
    'a URL in a list': [
      inTarget(`\n    - http://b.example/hub\n    - ${hub}`),
      inTarget(`\n    - http://b.example/hub\n    - ${reference}`),
      hub,
    ],
    'a URL in brackets': [
      inTarget(` [${hub}, http://b.example/hub]`),
      inTarget(` ["${reference}", http://b.example/hub]`),
      hub,
    ],
    'a URL in a list separated by commas': [
      inTarget(` http://b.example/hub, ${hub}`),
      inTarget(` http://b.example/hub, ${reference}`),
      hub,
    ],
    'an access key': [
      'config:\n  connectionString: Endpoint=https://a.b;AccessKey=c2VjcmV0;Version=1.0;\n',
      'config:\n  connectionString: Endpoint=https://a.b;AccessKey=${secret:demo};Version=1.0;\n',
      'c2VjcmV0',
    ],
    'an access key in braces': [
      'config: { connectionString: Endpoint=https://a.b;AccessKey=c2VjcmV0 }\n',
      'config: { connectionString: "Endpoint=https://a.b;AccessKey=${secret:demo}" }\n',
      'c2VjcmV0',
    ],
    'an access key in a comment': [
      `${withConfig()}# Endpoint=https://a.b;AccessKey=c2VjcmV0\n`,
      `${withConfig()}# Endpoint=https://a.b;AccessKey=${reference}\n`,
      'c2VjcmV0',
    ],
  };
  for (const [name, [text, expected, secret]] of Object.entries(shapes)) {
    it(`writes a reference for ${name}`, () => {
      assert.deepEqual(moved(text), { text: expected, secret });
      const { problems } = parseScenario(expected);
      assert.ok(!problems.some(({ code }) => code === 'secret-in-file'));
    });
  }

  it('keeps the breaks of lines', () => {
    const text = withConfig(`accessToken: "${token}"`, 'unit: 1').replaceAll('\n', '\r\n');
    assert.equal(moved(text)?.text, text.replace(token, reference));
  });

  it('refuses what would leave a scenario that says something else', () => {
    // A target that is nothing but a reference of that name stands for a connection string.
    assert.equal(moved(inTarget(` ${hub}`), 'connection'), undefined);
    // Where in the text a part of the value stands is unknown.
    assert.equal(moved(inTarget(` "http://b.example/hu\\u0062, ${hub}"`)), undefined);
  });

  it('refuses a range without a secret', () => {
    assert.equal(moveSecret(withConfig(), { offset: 0, length: 6 }, 'demo'), undefined);
  });
});
