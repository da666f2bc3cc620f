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
  // «…» is where the reference comes, in quotes of its own where that is what braces want.
  const shapes: Readonly<Record<string, readonly [text: string, secret?: string, left?: string]>> =
    {
      'a token without quotes': [withConfig('accessToken: «»')],
      'a token in quotes': [withConfig('accessToken: "«»"')],
      'a token in single quotes': [withConfig("accessToken: '«»'")],
      'a token with escapes': [withConfig('accessToken: "«»"'), 'abcd', 'ab\\u0063d'],
      'a token on lines of its own': [
        withConfig('accessToken: «»', 'unit: 1'),
        token,
        `>\n    ${token}`,
      ],
      'a token behind an anchor': [withConfig('accessToken: &token «»', 'query: { t: *token }')],
      'a token in braces': ['config: { target: local, accessToken: «"» }\n'],
      'a header on a line of its own': [
        withConfig('headers:', '  Authorization: «»'),
        `Bearer ${token}`,
      ],
      'a header in braces': [withConfig('headers: { Authorization: «"» }'), `Bearer ${token}`],
      'a URL with a password': [inTarget(' «»'), hub],
      'a URL in a list': [inTarget('\n    - http://b.example/hub\n    - «»'), hub],
      'a URL in brackets': [inTarget(' [«"», http://b.example/hub]'), hub],
      'a URL in a list separated by commas': [inTarget(' http://b.example/hub, «»'), hub],
      'an access key': [
        'config:\n  connectionString: Endpoint=https://a.b;AccessKey=«»;Version=1.0;\n',
        'c2VjcmV0',
      ],
      'an access key in a comment': [
        `${withConfig()}# Endpoint=https://a.b;AccessKey=«»\n`,
        'c2VjcmV0',
      ],
    };
  for (const [name, [shape, secret = token, left = secret]] of Object.entries(shapes)) {
    it(`writes a reference for ${name}`, () => {
      const expected = shape.replace(/«("?)»/, `$1$${reference}$1`);
      assert.deepEqual(moved(shape.replace(/«"?»/, left)), { text: expected, secret });
      const { problems } = parseScenario(expected);
      assert.ok(!problems.some(({ code }) => code === 'secret-in-file'));
    });
  }

  it('puts the whole value in quotes where braces would end it', () => {
    const text = (key: string): string =>
      `config: { connectionString: ${key.replace('KEY', 'Endpoint=https://a.b;AccessKey=')} }\n`;
    const expected = { text: text(`"KEY${reference}"`), secret: 'c2VjcmV0' };
    assert.deepEqual(moved(text('KEYc2VjcmV0')), expected);
  });

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
