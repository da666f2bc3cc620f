/** Tries one subject in a thread of its own: whoever watches can end it, and knows the input at hand. */
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Coverage } from './coverage';
import { inputOf, piecesOf } from './mutate';
import { maximumInputBytes, seedsOf, type Subject } from './subject';

export interface FuzzOrder {
  /** Module that exports it, alone or in a list. */
  readonly registry: string;
  readonly name: string;
  readonly seed: number;
  /** Inputs of this seed that were tried before. */
  readonly from: number;
  /** What was found before, oldest first. */
  readonly found: readonly Uint8Array[];
  /** From when the subject is there; ends when either is reached, at the end of a batch. */
  readonly forMs: number;
  readonly inputs: number;
  /** {@link shownInput} */
  readonly shown: SharedArrayBuffer;
}

export type FuzzFact =
  | { readonly kind: 'found'; readonly input: Uint8Array }
  | { readonly kind: 'fault'; readonly input: Uint8Array; readonly text: string }
  | { readonly kind: 'over'; readonly inputs: number; readonly functions: number };

/** Where the input at hand lies: how many were tried, its length, its bytes. */
export const shownInput = (shown: SharedArrayBuffer) => ({
  numbers: new Int32Array(shown, 0, 2),
  bytes: Buffer.from(shown, 8),
});
export const shownBytes = 8 + maximumInputBytes;

/** Inputs between two looks at what has run. */
const batchInputs = 512;
const slowBatchInputs = 32;
/** More are not kept: the later ones differ little. */
const maximumFound = 4000;
/**
 * Bytes that one allocation may have for an input of 8 KB. What claims to be long must not get room before it comes;
 * readers that gather pieces double theirs.
 */
export const maximumAllocation = 1024 * 1024;

/** Says what was beyond the bound since the last call, also where the product has caught the error. */
function boundAllocations(): () => void {
  let beyond: Error | undefined;
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const) {
    const allocate: (size: number, ...rest: never[]) => Buffer<ArrayBuffer> =
      Buffer[name].bind(Buffer);
    Buffer[name] = (size: number, ...rest: never[]) => {
      if (size > maximumAllocation) {
        beyond = new Error(`${size} bytes were asked for at once`);
        throw beyond;
      }
      return allocate(size, ...rest);
    };
  }
  return () => {
    if (beyond === undefined) return;
    const error = beyond;
    beyond = undefined;
    throw error;
  };
}

class Trial {
  private readonly corpus: Buffer[];
  private readonly pieces: readonly Buffer[];
  private readonly shown: ReturnType<typeof shownInput>;

  constructor(
    private readonly subject: Subject,
    private readonly order: FuzzOrder,
    private readonly coverage: Coverage | undefined,
    private readonly checkAllocations: () => void,
    private readonly say: (fact: FuzzFact) => void,
  ) {
    const seeds = seedsOf(subject);
    this.corpus = [...seeds, ...order.found.map((each) => Buffer.from(each))];
    this.pieces = piecesOf(seeds, subject.pieces);
    this.shown = shownInput(order.shown);
  }

  async run(): Promise<void> {
    const { seed, from, forMs, inputs } = this.order;
    const length = this.subject.isSlow === true ? slowBatchInputs : batchInputs;
    if (!(await this.tryAll(this.corpus))) return;
    const { coverage } = this;
    coverage?.keep(coverage.take());
    const untilMs = Date.now() + forMs;
    let done = 0;
    do {
      const sources = { corpus: this.corpus, pieces: this.pieces };
      const batch = Array.from({ length }, (_, index) =>
        inputOf(seed, from + done + index, sources),
      );
      if (!(await this.tryAll(batch))) return;
      done += batch.length;
      // A rejection that nobody waits for is heard of only now.
      await setImmediate();
      if (coverage === undefined) continue;
      const ran = coverage.take();
      if (coverage.isNew(ran)) await this.keepNew(batch, coverage);
      coverage.keep(ran);
    } while (done < inputs && Date.now() < untilMs);
    this.say({ kind: 'over', inputs: from + done, functions: coverage?.functions ?? 0 });
  }

  /** Finds which of the inputs have brought something new, by halves. */
  private async keepNew(inputs: readonly Buffer[], coverage: Coverage): Promise<void> {
    if (this.corpus.length >= maximumFound) return;
    await this.tryAll(inputs);
    const ran = coverage.take();
    if (!coverage.isNew(ran)) return;
    const [only] = inputs;
    if (inputs.length > 1) {
      const half = inputs.length >> 1;
      await this.keepNew(inputs.slice(0, half), coverage);
      await this.keepNew(inputs.slice(half), coverage);
    } else if (only !== undefined) {
      coverage.keep(ran);
      this.corpus.push(only);
      this.say({ kind: 'found', input: only });
    }
  }

  private async tryAll(inputs: readonly Buffer[]): Promise<boolean> {
    const { numbers, bytes } = this.shown;
    for (const input of inputs) {
      bytes.set(input);
      numbers[1] = input.length;
      Atomics.add(numbers, 0, 1);
      try {
        const checked = this.subject.check(input);
        if (checked !== undefined) await checked;
        this.checkAllocations();
      } catch (error) {
        this.say({
          kind: 'fault',
          input,
          text: error instanceof Error ? error.stack! : String(error),
        });
        return false;
      }
    }
    return true;
  }
}

async function work(order: FuzzOrder): Promise<void> {
  // Before the subjects are loaded, or V8 has no counters in them.
  const coverage = new Coverage((url) => /[\\/]out[\\/]src[\\/]/.test(url));
  const exported = (await import(order.registry)) as Record<string, Subject | readonly Subject[]>;
  const subject = Object.values(exported)
    .flat()
    .find(({ name }) => name === order.name);
  if (subject === undefined) throw new Error(`no subject ${order.name}`);
  const dispose = await subject.prepare?.();
  // Counting blocks makes all code slow.
  if (subject.learnsNothing === true) coverage.dispose();
  const counted = subject.learnsNothing === true ? undefined : coverage;
  const trial = new Trial(subject, order, counted, boundAllocations(), (fact) =>
    parentPort!.postMessage(fact),
  );
  await trial.run();
  counted?.dispose();
  await dispose?.();
  parentPort!.close();
}

if (parentPort !== null) void work(workerData as FuzzOrder);
