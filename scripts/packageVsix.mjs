// Packs the extension: `npm run package:vsix [FILE]`. The file list is .vscodeignore, the budget is here.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { packageProgram, root, runNode } from './nodeProgram.mjs';

/** An extension is fetched by every user at every update. */
const budgetBytes = 1024 * 1024;

async function pack() {
  const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const file = path.resolve(process.argv[2] ?? path.join(root, `${name}-${version}.vsix`));
  mkdirSync(path.dirname(file), { recursive: true });
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--out', file];
  const code = await runNode([packageProgram('@vscode/vsce', 'vsce'), ...args]);
  if (code !== 0) return code;
  const sizeBytes = statSync(file).size;
  console.log(`${path.relative(root, file)}: ${Math.ceil(sizeBytes / 1024)} KB`);
  if (sizeBytes <= budgetBytes) return 0;
  console.error(`The package is above its budget of ${budgetBytes / 1024} KB.`);
  return 1;
}

process.exitCode = await pack();
