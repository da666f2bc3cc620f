import { inBackground } from '../base/async';
import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ProcessReport, ToWorker, WorkerStart } from '../messages/worker';
import { codecForEndpoint } from '../wire/connect/connectHub';
import { keepEnvironmentOutOfReports } from './diagnosticReport';
import { machineClock, steeredClock } from './machineClock';
import {
  memberMemoryOfPlan,
  countOpenConnections,
  SharedMembers,
  type MemberMemory,
  type ThreadStart,
} from './prepare/sharedMembers';
import { TimeToAllTracker } from './prepare/timeToAllTracker';
import { SuspendDetector } from './suspendDetector';
import { WorkerRun, type WorkerSurroundings } from './workerRun';

interface Link {
  /** `sent` runs once the fact is handed over. */
  post(fact: FromWorker, sent?: () => void): void;
  onOrder(take: (order: ToWorker) => void): void;
}

type MembershipGiven = Parameters<WorkerSurroundings['membership']>;

/** Sockets still closing must not keep the process alive longer. */
const goodbyeMs = 200;
/** How often reconnects are reported in between samples. */
const lookMs = 20;

/** An uncaught error ends the thread or process; the lead gets its stack. */
const failed = (error: unknown): void => {
  setImmediate(() => {
    throw error;
  });
};

function work(start: ThreadStart, link: Link): void {
  const napCell = new Int32Array(new SharedArrayBuffer(4));
  const surroundings: WorkerSurroundings = {
    clock: start.clock === undefined ? machineClock() : steeredClock(machineClock(), start.clock),
    nap: (ms: number) => {
      Atomics.wait(napCell, 0, 0, ms);
    },
    membership: (...given: MembershipGiven) => new SharedMembers(start.memory, ...given),
    reach: start.reach && new TimeToAllTracker(start.reach),
    rows: start.rows,
    suspendDetector: new SuspendDetector(),
  };
  const begin = (parts: Parts): void => {
    const run = new WorkerRun(start, { ...surroundings, ...parts }, (fact: FromWorker) => {
      if (fact.type === 'closed')
        link.post(fact, () => setTimeout(() => process.exit(0), goodbyeMs));
      else link.post(fact);
    });
    link.onOrder((order) => inBackground(run.handle(order), failed));
    link.post({ type: 'ready' });
  };
  load(start).then(begin).catch(failed);
}

type Parts = Pick<WorkerSurroundings, 'codec' | 'sessions' | 'Persistent'>;

async function load({ plan: { entries, protocol }, endpoint }: WorkerStart): Promise<Parts> {
  const hasSessions = entries.some(({ run }) => run.session !== undefined);
  const persists = entries.some(({ run }) => run.via === 'persistent');
  return {
    codec: codecForEndpoint(protocol, endpoint),
    ...(hasSessions && {
      sessions: await import(/* webpackMode: "eager" */ './send/sessionSender.js'),
    }),
    ...(persists && {
      Persistent: (await import(/* webpackMode: "eager" */ '../wire/service/persistentSends.js'))
        .WeakServerConnection,
    }),
  };
}

function reportOf(memory: MemberMemory, fact?: FromWorker): ProcessReport {
  const { user, system } = process.cpuUsage();
  return { ...(fact && { fact }), open: countOpenConnections(memory), cpuUs: user + system };
}

function workAsProcess(start: WorkerStart): void {
  const { plan } = start;
  const memory = memberMemoryOfPlan(plan);
  const send = (report: ProcessReport, sent = (): void => undefined): void => {
    process.send!(report, undefined, undefined, () => sent());
  };
  const link: Link = {
    post: (fact, sent) => send(reportOf(memory, fact), sent),
    onOrder: (take) => process.on('message', (order) => take(order as ToWorker)),
  };
  if (plan.life !== undefined) {
    let open = 0;
    setInterval(() => {
      if (countOpenConnections(memory) === open) return;
      open = countOpenConnections(memory);
      send(reportOf(memory));
    }, lookMs).unref();
  }
  work({ ...start, memory }, link);
}

keepEnvironmentOutOfReports();
if (parentPort !== null) {
  const port = parentPort;
  work(workerData as ThreadStart, {
    post: (fact, sent) => {
      port.postMessage(fact);
      sent?.();
    },
    onOrder: (take) => port.on('message', take),
  });
} else if (process.send !== undefined) {
  process.once('message', (start) => workAsProcess(start as WorkerStart));
  // Without a lead the worker ends. Signals to the whole process group are for the lead, which ends its workers.
  process.once('disconnect', () => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => undefined);
} else throw new Error('this script runs as a worker only, on a thread or as a process of a run');
