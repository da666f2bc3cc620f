/** Tries subjects for a time, and goes on where an earlier run of the same seed has stopped. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { shownBytes, shownInput, type FuzzFact, type FuzzOrder } from './fuzzWorker';

export interface Campaign {
  readonly seed: number;
  /** Where it keeps what it found and how far it came. */
  readonly folder: string;
  readonly registry: string;
}

export interface Limits {
  readonly forMs: number;
  readonly inputs?: number;
  /** CPU time that one input may take. */
  readonly inputCpuMs?: number;
  /** Heap of the subject. */
  readonly heapMb?: number;
}

export interface Outcome {
  readonly name: string;
  /** Of this run, and of all runs of the seed. */
  readonly inputs: number;
  readonly total: number;
  readonly seconds: number;
  readonly found: number;
  readonly functions: number;
  /** What went wrong, and the file with the input that made it. */
  readonly fault?: { readonly text: string; readonly file: string };
}

/** The slowest inputs take milliseconds; a loop without end, or work that grows with its square, takes this. */
const maximumInputCpuMs = 20_000;
/** For inputs of 8 KB; most of it is code. */
const maximumHeapMb = 512;
const lookEveryMs = 500;

interface Progress {
  readonly seed: number;
  readonly inputs: number;
}

function progressIn(file: string): Progress | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Progress) : undefined;
}

function foundIn(folder: string): Buffer[] {
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(path.join(folder, name)));
}

export async function tryFor(
  name: string,
  { seed, folder, registry }: Campaign,
  { forMs, inputs = Infinity, inputCpuMs = maximumInputCpuMs, heapMb = maximumHeapMb }: Limits,
): Promise<Outcome> {
  const kept = path.join(folder, name, 'found');
  const progressFile = path.join(folder, name, 'progress.json');
  const before = progressIn(progressFile);
  // Another seed begins anew, with nothing of the one before, so that it can be repeated.
  if (before !== undefined && before.seed !== seed) rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const from = before?.seed === seed ? before.inputs : 0;
  const found = foundIn(kept);
  const shown = new SharedArrayBuffer(shownBytes);
  const startedMs = Date.now();
  const order: FuzzOrder = { registry, name, seed, from, found, forMs, inputs, shown };
  const heard = await watched(order, { inputCpuMs, heapMb }, (input) => {
    writeFileSync(path.join(kept, `${String(found.push(input)).padStart(6, '0')}.bin`), input);
  });
  const tried = shownInput(shown).numbers[0]!;
  const seconds = (Date.now() - startedMs) / 1000;
  const outcome = { name, seconds, found: found.length };
  if (heard.kind === 'over') {
    const progress: Progress = { seed, inputs: heard.inputs };
    writeFileSync(progressFile, JSON.stringify(progress));
    return {
      ...outcome,
      inputs: heard.inputs - from,
      total: heard.inputs,
      functions: heard.functions,
    };
  }
  const hash = createHash('sha256').update(heard.input).digest('hex').slice(0, 12);
  const file = path.join(folder, name, `fault-${hash}.bin`);
  writeFileSync(file, heard.input);
  return {
    ...outcome,
    inputs: tried,
    total: from + tried,
    functions: 0,
    fault: { text: heard.text, file },
  };
}

type End = Exclude<FuzzFact, { kind: 'found' }>;

/** Runs the worker, and ends one that stays at an input. */
function watched(
  order: FuzzOrder,
  { inputCpuMs, heapMb }: Required<Pick<Limits, 'inputCpuMs' | 'heapMb'>>,
  keep: (input: Buffer) => void,
): Promise<End> {
  const { numbers, bytes } = shownInput(order.shown);
  const atHand = (): Buffer => Buffer.from(bytes.subarray(0, numbers[1]));
  const worker = new Worker(path.join(__dirname, 'fuzzWorker.js'), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  return new Promise((resolve) => {
    let [last, cpuAtLast] = [-1, process.cpuUsage()];
    const timer = setInterval(() => {
      const now = Atomics.load(numbers, 0);
      if (now !== last) [last, cpuAtLast] = [now, process.cpuUsage()];
      // Of all threads; this one does nothing meanwhile.
      else if (process.cpuUsage(cpuAtLast).user / 1000 > inputCpuMs)
        end({ kind: 'fault', input: atHand(), text: `took more than ${inputCpuMs} ms of CPU` });
    }, lookEveryMs);
    const end = (fact: End): void => {
      clearInterval(timer);
      void worker.terminate().then(() => resolve(fact));
    };
    worker.on('message', (fact: FuzzFact) => {
      if (fact.kind === 'found') keep(Buffer.from(fact.input));
      else end(fact);
    });
    // Also what was thrown where nobody waited for it, and a heap that is full.
    worker.on('error', (error) =>
      end({ kind: 'fault', input: atHand(), text: error.stack ?? String(error) }),
    );
  });
}
