// Everything that can be judged without running the product. All checks run, so that one look shows all
// that is wrong.
import { packageProgram, runNode } from './nodeProgram.mjs';

const checks = [
  ['types', [packageProgram('typescript', 'tsc'), '-b']],
  [
    'lint',
    [
      packageProgram('oxlint'),
      '--type-aware',
      '--report-unused-disable-directives',
      '--deny-warnings',
    ],
  ],
  ['imports', ['scripts/imports.mjs']],
  ['format', ['scripts/format.mjs', '--check']],
  ['generated schema', ['scripts/writeSchema.mjs', '--check']],
  ['generated page of keys', ['scripts/writeKeys.mjs', '--check']],
  ['generated capacity tables', ['scripts/writeCapacity.mjs', '--check']],
];

const failed = [];
for (const [name, args] of checks) {
  if ((await runNode(args)) !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`Failed checks: ${failed.join(', ')}.`);
  process.exitCode = 1;
} else {
  console.log('All checks passed.');
}
