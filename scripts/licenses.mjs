// The bundles contain other people's packages; their licences ask that the notice goes along.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Source files in a module of webpack's, which may be several joined into one. */
function* sourceFiles(module) {
  if (module.resource !== undefined) yield module.resource.split('?')[0];
  for (const part of module.modules ?? []) yield* sourceFiles(part);
}

/** Folders of all packages that went into the bundles, sorted. */
export function bundledPackages(stats) {
  const folders = new Set();
  for (const { compilation } of stats.stats) {
    for (const module of compilation.modules) {
      for (const file of sourceFiles(module)) {
        const match = /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(file);
        if (match !== null) folders.add(match[0]);
      }
    }
  }
  return [...folders].sort();
}

/** Writes name, version and licence text of each package to one file. */
export function writeLicenses(file, folders) {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    );
    const texts = readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)/i.test(entry));
    const text = texts.map((entry) => readFileSync(path.join(folder, entry), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...text].join('\n\n');
  });
  writeFileSync(file, `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}
