import { fork, type ChildProcess } from 'node:child_process';
import type { Plan } from '../../plan/plan';
import type {
  FromWorker,
  ProcessReport,
  ToWorker,
  WorkerHost,
  WorkerListener,
  WorkerStart,
} from '../../messages/worker';
import { childEnvironment } from '../../targets/serverProcess';
import { CpuMeter } from '../machineClock';
import { SuspendDetector } from '../suspendDetector';
import { ReportedCpu } from './reportedCpu';
import { waits } from './waiting';

const keptErrorBytes = 8192;

/**
 * Third of a worker's young generation. V8 grows it to 16 MB while connections open and keeps it, which is most of
 * the memory of a few thousand connections. Messages are short-lived, so 2 MB cost no more CPU:
 * docs/evidence/performance.md, *Memory*.
 */
export const semiSpaceMb = 2;

/** Replaceable in tests. */
export type WorkerProcess = Pick<
  ChildProcess,
  'send' | 'kill' | 'on' | 'once' | 'stderr' | 'exitCode' | 'signalCode' | 'pid'
>;

const forkWorker = (script: string): WorkerProcess =>
  fork(script, [], {
    // Histogram counts are typed arrays.
    serialization: 'advanced',
    execArgv: [`--max-semi-space-size=${semiSpaceMb}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: childEnvironment(),
  });

export const startProcesses =
  (plan: Plan, where: Pick<WorkerStart, 'endpoint' | 'originUs'>, workerScript: string) =>
  (listener: WorkerListener): WorkerProcesses =>
    new WorkerProcesses(
      plan.workers.map(({ worker }) => ({ plan, worker, ...where })),
      listener,
      () => forkWorker(workerScript),
    );

interface Member {
  readonly child: WorkerProcess;
  readonly ended: Promise<void>;
  readonly cpu: ReportedCpu;
  open: number;
  /** Checks since its last report. */
  silentLooks: number;
}

/**
 * Each worker has its own descriptors, heap and event loop. Members are known by reports, as with agents on other
 * machines, but on one clock: nothing is ambiguous. A lost worker ends the run.
 */
export class WorkerProcesses implements WorkerHost {
  readonly alive = new Set<number>();
  private readonly members = new Map<number, Member>();
  private readonly suspendDetector = new SuspendDetector();
  /** Workers report every second once they connect. */
  private readonly looking: NodeJS.Timeout;
  private isReporting = false;

  constructor(
    starts: readonly WorkerStart[],
    private readonly listener: WorkerListener,
    forked: () => WorkerProcess,
  ) {
    for (const start of starts) this.members.set(start.worker, this.begin(start, forked()));
    this.looking = setInterval(() => this.look(), waits.lookMs).unref();
  }

  /** Counts checks instead of time: while this process is suspended, no worker is silent. */
  private look(): void {
    if (!this.isReporting) return;
    for (const worker of this.alive) {
      const member = this.members.get(worker)!;
      member.silentLooks += 1;
      if (member.silentLooks * waits.lookMs > waits.silentMs)
        this.giveUp(
          worker,
          `it reports each second, and nothing came for ${waits.silentMs / 1000} s`,
        );
    }
  }

  private begin(start: WorkerStart, child: WorkerProcess): Member {
    const { worker } = start;
    const { alive, listener } = this;
    alive.add(worker);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (said.length < keptErrorBytes) said += chunk.toString('utf8');
    });
    const lost = (error: Error): void => {
      if (alive.delete(worker)) listener.lost(worker, error);
    };
    const ended = new Promise<void>((resolve) => {
      child.on('error', (error) => {
        lost(error);
        if (child.pid === undefined) resolve();
      });
      // `close` instead of `exit`: its stderr is complete by then.
      child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
        lost(endOf(worker, code, signal, said));
        resolve();
      });
    });
    const member: Member = { child, ended, cpu: new ReportedCpu(), open: 0, silentLooks: 0 };
    child.on('message', (message) => this.report(worker, member, message as ProcessReport));
    this.post(member, start);
    return member;
  }

  private report(worker: number, member: Member, { fact, open, cpuUs }: ProcessReport): void {
    if (!this.alive.has(worker)) return;
    member.open = open;
    member.silentLooks = 0;
    member.cpu.reported(cpuUs);
    if (fact === undefined) return;
    if (fact.type === 'sampled') member.cpu.sampled(fact.sample.atUs);
    if (fact.type === 'closed') this.alive.delete(worker);
    this.listener.fact(worker, fact satisfies FromWorker);
  }

  takingPart(): number {
    let sum = 0;
    for (const worker of this.alive) sum += this.members.get(worker)!.open;
    return sum;
  }

  measureCpu(fromUs: number): () => number {
    const own = new CpuMeter();
    const each = [...this.members.values()].map(({ cpu }) => cpu.from(fromUs));
    return () => each.reduce((sum, usedUs) => sum + usedUs(), own.usedUs());
  }

  /** A frozen process takes no other signal. */
  giveUp(worker: number, why: string): void {
    if (!this.alive.delete(worker)) return;
    this.members.get(worker)!.child.kill('SIGKILL');
    const words = `the process of worker ${worker} was silent for too long: ${why}`;
    this.listener.lost(worker, new Error(words));
  }

  suspendedUs(): number {
    return this.suspendDetector.takeUs();
  }

  order(order: ToWorker): void {
    this.isReporting ||= order.type === 'connect';
    for (const worker of this.alive) this.post(this.members.get(worker)!, order);
  }

  /** A dead process is reported by its `close`. */
  private post({ child }: Pick<Member, 'child'>, message: WorkerStart | ToWorker): void {
    child.send(message, () => undefined);
  }

  async end(): Promise<void> {
    this.alive.clear();
    this.suspendDetector.dispose();
    clearInterval(this.looking);
    await Promise.all(
      [...this.members.values()].map(({ child, ended }) => {
        child.kill('SIGKILL');
        return ended;
      }),
    );
  }
}

/** Carries the stack that the process wrote; its first line with an error says why. */
function endOf(worker: number, code: number | null, signal: string | null, said: string): Error {
  const how = signal === null ? `code ${String(code)}` : `signal ${signal}`;
  const why = said.split('\n').find((line) => /^(?:Uncaught )?\w*Error\b.*: /.test(line));
  const error = new Error(
    `the process of worker ${worker} ended by itself with ${how}${why === undefined ? '' : `: ${why.trim()}`}`,
  );
  if (said.trim() !== '') error.stack = said.slice(0, keptErrorBytes);
  return error;
}
