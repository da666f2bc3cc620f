/** `npm run fuzz`: see docs/evidence/reliability.md. */
import { randomInt } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readFileSync } from 'node:fs';
import { tryFor, type Outcome } from './campaign';
import { subjects } from './subjects';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    only: { type: 'string', multiple: true },
    replay: { type: 'string' },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function replay(file: string): Promise<void> {
  for (const subject of subjects.filter(({ name }) => values.only?.includes(name) ?? true)) {
    const dispose = await subject.prepare?.();
    await subject.check(readFileSync(file));
    await dispose?.();
    say(`${subject.name}: holds`);
  }
}

const lineOf = ({ name, inputs, total, seconds, found, functions, fault }: Outcome): string =>
  [
    name.padEnd(20),
    `${inputs} inputs`.padStart(18),
    `${Math.round(inputs / seconds)}/s`.padStart(10),
    `${total} in all`.padStart(18),
    `${found} found`.padStart(12),
    `${functions} functions`.padStart(15),
    ...(fault === undefined ? [] : [`  FAULT: ${fault.file}\n${fault.text}`]),
  ].join('');

async function main(): Promise<void> {
  if (values.replay !== undefined) return replay(values.replay);
  const minutes = Number(values.minutes);
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const chosen = subjects.filter(({ name }) => values.only?.includes(name) ?? true);
  if (!(minutes > 0) || !Number.isInteger(seed) || chosen.length === 0) {
    const names = subjects.map(({ name }) => name).join(', ');
    throw new Error(
      `Usage: npm run fuzz -- [--minutes n] [--seed n] [--only name]… [--replay file]; names: ${names}`,
    );
  }
  // Whatever else the machine does comes first.
  setPriority(constants.priority.PRIORITY_LOW);
  say(`seed ${seed}: --seed ${seed} goes on where this ends`);
  const folder = path.resolve('out', 'fuzz');
  let total = 0;
  for (const { name, registry } of chosen) {
    const forMs = (minutes * 60_000) / chosen.length;
    const outcome = await tryFor(name, { seed, folder, registry }, { forMs });
    say(lineOf(outcome));
    total += outcome.inputs;
    if (outcome.fault !== undefined) process.exitCode = 1;
  }
  say(`${total} inputs`);
}

void main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
