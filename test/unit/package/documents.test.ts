import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program';
import type { OnDemand } from '../../../src/cli/loadOnDemand';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { fakeDeps } from '../cli/fakeDeps';
import { fakeIo } from '../cli/fakeIo';

/** What those read who change the product. */
const ownPages = ['docs/development.md', 'docs/testing.md'];

/** What users read; documents of the repository's own and evidence are not among them. */
const pages = ['README.md', ...readdirSync('docs').map((file) => `docs/${file}`)].filter(
  (file) => file.endsWith('.md') && !ownPages.includes(file),
);

const documents = [
  ...pages,
  ...['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...ownPages],
  ...readdirSync('docs/evidence').map((file) => `docs/evidence/${file}`),
];

const withoutBlocks = (file: string) =>
  readFileSync(file, 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '');

const numbered = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((text, index) => ({ text, at: `${file}:${index + 1}` }));

/** Words of one command as a shell has them, up to what ends or redirects it. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const end = words.findIndex((word) => /^([|&;<>#\\]|\d?>)/.test(word));
  return words
    .slice(0, end === -1 ? undefined : end)
    .map((word) => word.replace(/\)$/, '').replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}

/** Every command in a block, or in a line that has at least one argument. */
const commands = pages.flatMap((file) =>
  numbered(file).flatMap(({ text, at }) => [
    ...[...text.matchAll(/`signalr-bench ([a-z-]+ [^`]+)`/g)].map(([, rest = '']) => ({
      at,
      rest,
    })),
    ...[...text.matchAll(/^(?:[^`|#]*[\s(])?signalr-bench ([a-z][^`]*)$/g)].map(
      ([, rest = '']) => ({ at, rest }),
    ),
  ]),
);

/** Each YAML block, with the line it begins in. */
const blocks = pages.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/^( *)```yaml\n([^]*?)^ *```$/gm)].map((block) => ({
    at: `${file}:${block.input.slice(0, block.index).split('\n').length}`,
    text: block[2] ?? '',
  })),
);

const sections = ['config', 'scenario', 'scenarios', 'slo', 'search'];

/** A scenario into which the block is pasted: sections as they stand, other keys under `config`. */
function pasted(block: Readonly<Record<string, unknown>>): string {
  const isWhole = Object.keys(block).some((key) => sections.includes(key));
  const { config = {}, ...rest } = isWhole ? block : { config: block };
  const target = 'connectionString' in (config as object) ? {} : { target: 'local' };
  const scenario = 'scenarios' in rest ? {} : { scenario: { name: 'echo' } };
  return stringify({ config: { ...target, ...(config as object) }, ...scenario, ...rest });
}

describe('the documents', () => {
  it('have commands that the command line takes', async () => {
    assert.ok(commands.length > 30, `${commands.length} commands`);
    const folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-documents-'));
    const refused: string[] = [];
    // Commands that are loaded on demand are not carried out, and `run` finds no file in its folder.
    const none = new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : () => 0) });
    for (const { at, rest } of commands) {
      const io = fakeIo({ cwd: folder });
      await runProgram(wordsOf(rest), io, fakeDeps(), () => Promise.resolve(none as OnDemand));
      if (io.err().includes('--help shows what there is')) refused.push(`${at}: ${io.err()}`);
    }
    await rm(folder, { recursive: true });
    assert.deepEqual(refused, []);
  });

  it('have scenarios and parts of them that can be pasted', () => {
    const tried = blocks.filter(({ at }) => !at.startsWith('docs/ci.md'));
    assert.ok(tried.length > 30, `${tried.length} blocks`);
    const wrong = tried.flatMap(({ at, text }) =>
      parseScenario(pasted(parse(text) as Record<string, unknown>))
        .problems.filter(({ severity }) => severity === 'error')
        .map(({ code, message }) => `${at}: ${code}: ${message}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('are at most 250 lines long, and their tables at most 120 characters wide', () => {
    const texts = pages.map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n') }));
    const long = texts.filter(({ lines }) => lines.length > 251).map(({ file }) => file);
    const wide = texts
      .filter(({ lines }) => lines.some((line) => line.startsWith('|') && line.length > 120))
      .map(({ file }) => file);
    assert.deepEqual([long, wide], [[], []]);
  });

  it('have links to files and headings that are there', () => {
    const headings = (file: string) =>
      [...withoutBlocks(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
          .toLowerCase()
          .replaceAll(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
    const broken = documents.flatMap((file) =>
      [...withoutBlocks(file).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)]
        .map(([, page = '', heading = '']) => ({
          target: page === '' ? file : path.join(path.dirname(file), page),
          heading,
        }))
        .filter(
          ({ target, heading }) =>
            !existsSync(target) || (heading !== '' && !headings(target).includes(heading)),
        )
        .map(({ target, heading }) => `${file}: ${target}#${heading}`),
    );
    assert.deepEqual(broken, []);
  });
});
