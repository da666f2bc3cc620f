// Makes the bundles in dist with webpack, prints their sizes beside their budgets, and fails on errors
// and passed budgets. Does nothing when no input has changed since the last good build.
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundledPackages, writeLicenses } from './licenses.mjs';
import { root } from './nodeProgram.mjs';

const require = createRequire(import.meta.url);
const dist = path.join(root, 'dist');
/** The one file that a build leaves outside of dist. */
const chartStyles = path.join(root, 'media', 'uPlot.css');

const inputFiles = [
  'package-lock.json',
  'tsconfig.base.json',
  'webpack.config.js',
  'scripts/build.mjs',
  'scripts/licenses.mjs',
];

/** Hash over everything a bundle is made of. */
function inputStamp() {
  const hash = createHash('sha256');
  const sources = readdirSync(path.join(root, 'src'), { recursive: true })
    .map((name) => path.join('src', name))
    .filter((name) => statSync(path.join(root, name)).isFile())
    .sort();
  for (const name of [...inputFiles, ...sources]) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(path.join(root, name)))
      .update('\0');
  }
  return hash.digest('hex');
}

const kilobytes = (bytes) => `${Math.ceil(bytes / 1024)} KB`;

/** Each file beside its budget. */
function printSizes(stats, budgets) {
  for (const { compilation } of stats.stats) {
    for (const asset of compilation.getAssets().filter((each) => /^[^/]+\.js$/.test(each.name))) {
      const size = kilobytes(asset.source.size()).padStart(7);
      const budget = budgets[path.basename(asset.name, '.js')];
      console.log(`  dist/${asset.name.padEnd(14)} ${size} of ${budget} KB`);
    }
  }
}

function runWebpack(configurations) {
  const webpack = require('webpack');
  return new Promise((resolve, reject) => {
    const compiler = webpack(configurations);
    compiler.run((error, stats) => {
      compiler.close((closeError) => {
        if (error ?? closeError) reject(error ?? closeError);
        else resolve(stats);
      });
    });
  });
}

const stamp = inputStamp();
const stampFile = path.join(dist, 'build.stamp');
const lastStamp = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
if (stamp === lastStamp && existsSync(chartStyles)) {
  console.log('dist is up to date.');
} else {
  const configurations = require(path.join(root, 'webpack.config.js'));
  // Whoever runs the bundles meanwhile, such as a suite, finds whole ones: these take their place when all are made.
  const made = path.join(root, 'out', `dist-${process.pid}`);
  for (const { output } of configurations) output.path = made;
  console.log('Building …');
  const stats = await runWebpack(configurations);
  printSizes(stats, configurations.budgets);
  if (stats.hasErrors() || stats.hasWarnings()) {
    console.error(
      stats.toString({ preset: 'errors-warnings', colors: process.stderr.isTTY === true }),
    );
  }
  // After a build that failed, an old bundle must not be taken for a new one.
  rmSync(dist, { recursive: true, force: true });
  if (stats.hasErrors()) {
    rmSync(made, { recursive: true, force: true });
    process.exitCode = 1;
  } else {
    writeLicenses(path.join(made, 'licenses.txt'), bundledPackages(stats));
    writeFileSync(path.join(made, 'build.stamp'), stamp);
    renameSync(path.join(made, 'uPlot.css'), chartStyles);
    renameSync(made, dist);
  }
}
