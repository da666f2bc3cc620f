import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { redactHeader, redactSecret, redactTarget } from '../../../src/results/redact';
import { topKeys } from '../../../src/scenario/keys/scenarioKeys';
import { secretPaths } from '../../../src/scenario/keys/keySpec';

/** What others see in a list of processes: an option with its value, in quotes or without. */
const option =
  /--(token-key|set|target|bus|otlp|upstream)[= ](?:'([^']*)'|"([^"]*)"|([^\s`'"|)]+))/g;

const secretKeys = new Set(secretPaths(topKeys).map(([name]) => name));

function isLiteral(name: string, value: string): boolean {
  if (name === 'token-key') return redactSecret(value) !== value;
  if (name !== 'set') return redactTarget(value) !== value;
  const [key = '', ...rest] = value.split('=');
  const text = rest.join('=');
  if (secretKeys.has(key)) return redactSecret(text) !== text;
  const [, header] = /\.headers\.(.+)$/.exec(key) ?? [];
  if (header !== undefined) return redactHeader(header, text) !== text;
  return redactTarget(text) !== text;
}

/** Options of command lines that a text shows, and whether they hold a secret as it is. */
const optionsIn = (text: string) =>
  [...text.matchAll(option)].map(([shown, name = '', single, double, bare]) => {
    return { name, shown, isLiteral: isLiteral(name, single ?? double ?? bare ?? '') };
  });

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|ya?ml|json|sh)$/.test(name))
    .map((name) => path.join(folder, name));

const documented = ['examples', 'docs', 'media/walkthrough'].flatMap(filesBelow);

describe('command lines of examples and documents', () => {
  it('have secrets as references alone', () => {
    const shown = [...documented, 'README.md', 'action.yml'].flatMap((file) =>
      optionsIn(readFileSync(file, 'utf8')).map((each) => ({ file, ...each })),
    );
    assert.deepEqual(
      shown.filter(({ isLiteral }) => isLiteral).map((each) => `${each.file}: ${each.shown}`),
      [],
    );
    const names = new Set(shown.map(({ name }) => name));
    for (const name of ['token-key', 'set', 'target', 'bus']) assert.ok(names.has(name), name);
  });

  for (const [line, isSecret] of [
    ["serve hub --token-key '${secret:signing-key}'", false],
    ['serve hub --token-key "${env:KEY}"', false],
    ['| `--token-key <key>` | lets in |', false],
    ['serve hub --token-key 0123456789abcdef', true],
    ["serve hub --token-key='0123456789abcdef'", true],
    ["serve hub --token-key 'key-${env:REST}'", true],
    ["run a.yaml --set 'config.accessToken=${env:TOKEN}'", false],
    ['run a.yaml --set config.accessToken=eyJhbGciOi', true],
    ['run a.yaml --set config.keyPassword=hunter2', true],
    ["run a.yaml --set 'config.headers.X-Api-Key=0123456789'", true],
    ['run a.yaml --set config.connections=100', false],
    ["run a.yaml --target 'Endpoint=https://a.example;AccessKey=abcdef;'", true],
    ["run a.yaml --target '${env:AZURE_SIGNALR}'", false],
    ['agent --bus nats://ann:hunter2@bus.example', true],
    ['agent --bus nats://bus.example:4222', false],
  ] as const)
    it(`${isSecret ? 'may not' : 'may'} be ${line}`, () =>
      assert.deepEqual(
        optionsIn(line).map(({ isLiteral }) => isLiteral),
        [isSecret],
      ));
});
