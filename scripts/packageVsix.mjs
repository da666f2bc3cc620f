// Packs the extension: `npm run package:vsix [FILE]`. The file list is .vscodeignore, the budget is here.
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { packageProgram, root, runNode } from './nodeProgram.mjs';

/** An extension is fetched by every user at every update. */
const budgetBytes = 1.7 * 1024 * 1024;

const listFile = path.join(root, '.vscodeignore');
const staged = path.join(root, 'out', 'vsix');

/** What of the repository's first level is packed, as patterns of names. */
function packedNames() {
  const lines = readFileSync(listFile, 'utf8').split(/\r?\n/);
  return lines
    .filter((line) => line.startsWith('!'))
    .map((line) => {
      const [name] = line.slice(1).split('/');
      const literal = name.split('*').map((part) => part.replaceAll('.', String.raw`\.`));
      return new RegExp(`^${literal.join('.*')}$`);
    });
}

/**
 * Copies what is packed into a folder of its own: where everything else lies as well, the packer compares tens of thousands of
 * files with each line of the list.
 */
function stage(manifest) {
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  const patterns = packedNames();
  for (const name of readdirSync(root)) {
    if (!patterns.some((pattern) => pattern.test(name))) continue;
    cpSync(path.join(root, name), path.join(staged, name), { recursive: true });
  }
  copyFileSync(listFile, path.join(staged, '.vscodeignore'));
  // Scripts are for the repository, and the packer would run one of them.
  const text = JSON.stringify({ ...manifest, scripts: undefined }, undefined, 2);
  writeFileSync(path.join(staged, 'package.json'), text);
}

async function pack() {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  const built = await runNode(['scripts/build.mjs']);
  if (built !== 0) return built;
  stage(manifest);
  const file = path.resolve(process.argv[2] ?? path.join(root, `${name}-${version}.vsix`));
  mkdirSync(path.dirname(file), { recursive: true });
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--out', file];
  const code = await runNode([packageProgram('@vscode/vsce', 'vsce'), ...args], staged);
  if (code !== 0) return code;
  const sizeBytes = statSync(file).size;
  console.log(`${path.relative(root, file)}: ${Math.ceil(sizeBytes / 1024)} KB`);
  if (sizeBytes <= budgetBytes) return 0;
  console.error(`The package is above its budget of ${budgetBytes / 1024} KB.`);
  return 1;
}

process.exitCode = await pack();
