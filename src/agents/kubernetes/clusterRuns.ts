/** Runs of a namespace: started, listed, read and removed. */
import { getOrCreate } from '../../base/collect';
import type { Job } from 'kubernetes-types/batch/v1';
import type { Pod, Event } from 'kubernetes-types/core/v1';
import { ExpectedError } from '../../base/expectedError';
import { runSubjects } from '../messages';
import { type ClusterAccess, type ClusterWords, type Forwarding, readJson } from './kubectl';
import {
  busPort,
  busService,
  keysName,
  leadPasswordKey,
  leadUser,
  ownerName,
  runLabel,
  runSelector,
  busWithinS,
  type ClusterRun,
  ownedObjects,
  ownerJob,
} from './manifest';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { formatBytes } from '../../base/units';

const compress = promisify(gzip);
const scripts = [
  ...['cli.js', 'sharedStart.js', 'commands.js', 'sharedRun.js', 'sharedLater.js'],
  ...['worker.js', 'jsonPath.js', 'sdk.js', 'optional.js'],
];
const optional = ['servers.js'];
/** A ConfigMap takes 1 MB, part of it for the start script. */
const mostBundleBytes = 1_000_000;
const removedWithinS = 60;
const lookEveryMs = 500;
const madeWithinMs = 15_000;
const mostNamed = 5;
const spareS = 15;

export const newBusKeys = (): ClusterRun['keys'] => ({
  lead: randomBytes(24).toString('hex'),
  agent: randomBytes(24).toString('hex'),
});

/** The scripts of this build, compressed. @throws ExpectedError `bundle` when one is missing or they are too large */
export async function compressScripts(folder: string): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {};
  for (const name of [...scripts, ...optional]) {
    const bytes = await readFile(path.join(folder, name)).catch(() => undefined);
    if (bytes !== undefined) found[name] = await compress(bytes, { level: 9 });
    else if (scripts.includes(name))
      throw new ExpectedError(
        'bundle',
        `${name} is missing beside the command line: build it again.`,
      );
  }
  const size = Object.values(found).reduce((sum, { length }) => sum + length, 0);
  if (size > mostBundleBytes)
    throw new ExpectedError(
      'bundle',
      `The scripts of this build have ${formatBytes(size)} compressed, but only ${formatBytes(mostBundleBytes)} of them fit into a ConfigMap: build them for production (node scripts/build.mjs).`,
    );
  return found;
}

/** A run in a cluster: one object owns all the others. */
export class RunInCluster {
  private forwarding: Forwarding | undefined;
  private making: Promise<void> = Promise.resolve();
  private isOver = false;

  private constructor(
    private readonly kubectl: ClusterAccess,
    private readonly given: ClusterRun,
  ) {}

  /** Makes everything and waits for the bus. @throws ExpectedError with what kubectl says; nothing is left then */
  static async start(
    kubectl: ClusterAccess,
    given: ClusterRun,
    calledOff?: Promise<never>,
  ): Promise<RunInCluster> {
    const started = new RunInCluster(kubectl, given);
    const making = started.make();
    making.catch(() => undefined);
    try {
      await (calledOff ? Promise.race([making, calledOff]) : making);
      return started;
    } catch (error) {
      const trouble = await started.trouble().catch(() => []);
      // Objects still being made would survive the removal; later ones have their deadline.
      await Promise.race([started.making, pause(madeWithinMs, undefined, { ref: false })]);
      await started.dispose().catch((failed: unknown) => {
        throw new ExpectedError('cluster-left', `${wordsOf(error)} ${wordsOf(failed)}`);
      });
      if (error instanceof ExpectedError && trouble.length > 0)
        throw new ExpectedError(error.code, `${error.message} ${trouble.join(' ')}`);
      throw error;
    }
  }

  private async make(): Promise<void> {
    const { kubectl, given } = this;
    const objects = (async () => {
      const uid = await kubectl.create(ownerJob(given));
      await kubectl.createAll(ownedObjects(uid, given));
    })();
    this.making = objects.catch(() => undefined);
    await objects;
    const bus = `deployment/${busService(given.run)}`;
    const status = ['rollout', 'status', bus, `--timeout=${busWithinS}s`];
    await kubectl.run(status, '', (busWithinS + spareS) * 1000);
    const forwarding = await kubectl.forward(busService(given.run), busPort);
    if (this.isOver) forwarding.close();
    else this.forwarding = forwarding;
  }

  get bus(): { readonly url: string; readonly user: string; readonly password: string } {
    const url = `nats://127.0.0.1:${this.forwarding!.port}`;
    return { url, user: leadUser, password: this.given.keys.lead };
  }

  private trouble(): Promise<string[]> {
    return runPodProblems(this.kubectl, this.given.run);
  }

  /** @throws ExpectedError `cluster-left` with what removes the rest */
  async dispose(): Promise<void> {
    this.isOver = true;
    this.forwarding?.close();
    await removeRun(this.kubectl, this.given.run).catch((error: unknown) => {
      const what = `Run ${this.given.run} is still in the cluster, which removes it after its deadline. To remove it now: ${removeWords(this.given.run)}`;
      throw new ExpectedError('cluster-left', `${wordsOf(error)} ${what}`);
    });
  }
}

const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const removeWords = (run: string): string => `kubectl delete job ${ownerName(run)}`;

/**
 * Removes a run and waits until its pods have ended: the owner goes at once, its objects follow. That kubectl waits for them would
 * need rights that some clusters do not give.
 * Source: Kubernetes documentation, "Garbage Collection", heading "Foreground cascading deletion".
 * @throws ExpectedError with what kubectl says, or what is still there
 */
export async function removeRun(kubectl: Pick<ClusterAccess, 'run'>, run: string): Promise<void> {
  const how = ['--cascade=foreground', '--ignore-not-found', `--timeout=${removedWithinS}s`];
  const words = ['delete', `job/${ownerName(run)}`, ...how];
  const untilMs = performance.now() + removedWithinS * 1000;
  await kubectl.run(words, '', (removedWithinS + spareS) * 1000);
  const look = ['get', 'jobs,deployments,pods', '--selector', runSelector(run), '--output', 'name'];
  for (;;) {
    const left = (await kubectl.run(look)).split('\n').filter((name) => name !== '');
    if (left.length === 0) return;
    if (performance.now() > untilMs)
      throw new ExpectedError(
        'cluster-left',
        `After ${removedWithinS} s there are still ${left.slice(0, mostNamed).join(', ')}.`,
      );
    await pause(lookEveryMs);
  }
}

/** Why pods of a run do not run, in a sentence for each. @throws ExpectedError with what kubectl says */
export async function runPodProblems(
  kubectl: Pick<ClusterAccess, 'list' | 'run'>,
  run: string,
): Promise<string[]> {
  const pods = await kubectl.list<Pod>('pods', runSelector(run));
  return [...pods.flatMap((pod) => podProblems(pod)), ...(await refusals(kubectl, run))];
}

/** Pods that the cluster refuses to make. Not everybody may read events. */
async function refusals(kubectl: Pick<ClusterAccess, 'run'>, run: string): Promise<string[]> {
  const only = ['--field-selector', 'type=Warning,reason=FailedCreate', '--output', 'json'];
  const text = await kubectl.run(['get', 'events', ...only]).catch(() => '');
  const { items = [] } = (text === '' ? {} : readJson(text)) as { items?: readonly Event[] };
  const own = items.filter(({ involvedObject: { name } }) =>
    name?.startsWith(`${ownerName(run)}-`),
  );
  return [...new Set(own.map(refusalOf))];
}

const refusalOf = ({ involvedObject: { kind = '', name = '' }, message = '' }: Event): string => {
  const why = message.replace(/^Error creating: (pods "[^"]*" is )?/, '');
  return `${kind} ${name} gets no pod: ${why}.`;
};

export function podProblems({ metadata, status }: Pod): string[] {
  const name = metadata?.name ?? '';
  const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting) ?? [];
  const stuck = waiting.find(
    (one) => one?.reason !== undefined && one.reason !== 'ContainerCreating',
  );
  if (stuck !== undefined)
    return [`Pod ${name}: ${stuck.reason}${stuck.message ? `, ${stuck.message}` : ''}.`];
  const unscheduled = status?.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
  return unscheduled?.message === undefined
    ? []
    : [`Pod ${name} is pending: ${unscheduled.message}.`];
}

type PodState = 'pending' | 'running' | 'done' | 'failed' | 'leaving';

export interface PodStatus {
  readonly pod: string;
  /** For people: `agent x7k2p`, `bus`, `coordinator`. */
  readonly name: string;
  readonly node?: string;
  readonly state: PodState;
  readonly since?: string;
  readonly trouble?: string;
}

export interface ClusterRunStatus {
  readonly run: string;
  readonly since?: string;
  readonly until?: string;
  readonly pods: readonly PodStatus[];
}

type SeenObject = Job | Pod;

const componentLabel = 'app.kubernetes.io/component';
const partNames: Readonly<Record<string, string>> = { bus: 'bus', lead: 'coordinator' };
const mostLogBytes = 256 * 1024;

/** The oldest first. @throws ExpectedError with what kubectl says */
export async function listRuns(kubectl: Pick<ClusterAccess, 'list'>): Promise<ClusterRunStatus[]> {
  return seenRuns(await kubectl.list<SeenObject>('jobs,pods', runLabel));
}

function seenRuns(objects: readonly SeenObject[]): ClusterRunStatus[] {
  const runs = new Map<string, SeenObject[]>();
  for (const object of objects) {
    const run = object.metadata?.labels?.[runLabel];
    if (run !== undefined) getOrCreate(runs, run, () => []).push(object);
  }
  return [...runs]
    .map(([run, of]) => seenRun(run, of))
    .sort((a, b) => (a.since ?? '').localeCompare(b.since ?? ''));
}

function seenRun(run: string, objects: readonly SeenObject[]): ClusterRunStatus {
  const isPod = (object: SeenObject): object is Pod => object.kind === 'Pod';
  const owner = objects.find(
    (object): object is Job => !isPod(object) && object.metadata?.name === ownerName(run),
  );
  const since = owner?.metadata?.creationTimestamp;
  const seconds = owner?.spec?.ttlSecondsAfterFinished;
  const until =
    since === undefined || seconds === undefined
      ? undefined
      : new Date(Date.parse(since) + seconds * 1000).toISOString();
  const pods = objects
    .filter(isPod)
    .filter(({ metadata }) => metadata?.labels?.[componentLabel] !== 'owner')
    .map((pod) => seenPod(run, pod));
  return {
    run,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    pods: pods.sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name)),
  };
}

const order = ({ name }: PodStatus): number =>
  [partNames['lead'], partNames['bus']].indexOf(name) >>> 0;

function seenPod(run: string, pod: Pod): PodStatus {
  const { metadata, spec, status } = pod;
  const part = metadata?.labels?.[componentLabel] ?? '';
  const name = metadata?.name ?? '';
  const trouble = podProblems(pod).join(' ');
  return {
    pod: name,
    name: partNames[part] ?? `agent ${name.replace(`${ownerName(run)}-${part}-`, '')}`,
    ...(spec?.nodeName && { node: spec.nodeName }),
    state: metadata?.deletionTimestamp === undefined ? stateOf(status?.phase) : 'leaving',
    ...(metadata?.creationTimestamp && { since: metadata.creationTimestamp }),
    ...(trouble !== '' && { trouble }),
  };
}

const states: Readonly<Partial<Record<string, PodState>>> = {
  ...{ Running: 'running', Succeeded: 'done', Failed: 'failed' },
};
const stateOf = (phase = ''): PodState => states[phase] ?? 'pending';

interface PodLog {
  readonly name: string;
  readonly lines: readonly string[];
}

/**
 * The last lines of each pod, or of the one that {@link listRuns} calls so.
 * @throws ExpectedError `run-id`, `run-missing`, `agent-missing`, or with what kubectl says
 */
export async function readPodLogs(
  kubectl: Pick<ClusterAccess, 'list' | 'run' | 'words'>,
  run: string,
  lines: number,
  one?: string,
): Promise<PodLog[]> {
  runSubjects(run);
  const [seen] = seenRuns(await kubectl.list<SeenObject>('jobs,pods', runSelector(run)));
  if (seen === undefined) throw noRun(run, kubectl.words);
  const bounds = [`--tail=${lines}`, `--limit-bytes=${mostLogBytes}`];
  if (one !== undefined) {
    const pod = seen.pods.find(({ pod: whole, name }) =>
      [whole, name, name.replace(/^agent /, '')].includes(one),
    );
    if (pod === undefined) {
      const names = seen.pods.map(({ name }) => name.replace(/^agent /, '')).join(', ');
      const text = `Run ${run} has no pod ${one}${names === '' ? '' : `; it has ${names}`}.`;
      throw new ExpectedError('agent-missing', text);
    }
    const text = await kubectl.run(['logs', `pod/${pod.pod}`, ...bounds]);
    return [{ name: pod.name, lines: linesOf(text) }];
  }
  const all = ['--selector', runSelector(run), '--prefix', '--ignore-errors', ...bounds];
  const text = await kubectl.run(['logs', ...all]);
  const logs = new Map<string, string[]>(seen.pods.map(({ pod }) => [pod, []]));
  for (const line of linesOf(text)) {
    const found = /^\[pod\/([^/\]]+)\/[^\]]*\] ?(.*)$/.exec(line);
    if (found !== null) logs.get(found[1]!)?.push(found[2]!);
  }
  return seen.pods.map(({ pod, name }) => ({ name, lines: logs.get(pod) ?? [] }));
}

const linesOf = (text: string): string[] => {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
};

/** Removes a run and all that it has. @throws ExpectedError `run-id`, `run-missing`, or with what kubectl says */
export async function removeRunById(
  kubectl: Pick<ClusterAccess, 'run' | 'words'>,
  run: string,
): Promise<void> {
  runSubjects(run);
  await mustBe(kubectl, run);
  await removeRun(kubectl, run);
}

interface FoundBus {
  readonly address: { readonly url: string; readonly user: string; readonly password: string };
  readonly forwarding: Forwarding;
}

/**
 * @param known key of its bus; absent: read from its Secret, which needs that right
 * @throws ExpectedError `run-id`, `run-missing`, or with what kubectl says
 */
export async function forwardRunBus(
  kubectl: Pick<ClusterAccess, 'run' | 'forward' | 'words'>,
  run: string,
  known?: string,
): Promise<FoundBus> {
  runSubjects(run);
  const password = known ?? (await keyOf(kubectl, run));
  // Else a missing run would be reported as a missing service.
  if (known !== undefined) await mustBe(kubectl, run);
  const forwarding = await kubectl.forward(busService(run), busPort);
  const url = `nats://127.0.0.1:${forwarding.port}`;
  return { address: { url, user: leadUser, password }, forwarding };
}

async function keyOf(kubectl: Pick<ClusterAccess, 'run' | 'words'>, run: string): Promise<string> {
  const path = `jsonpath={.data.${leadPasswordKey}}`;
  const words = ['get', `secret/${keysName(run)}`, '--ignore-not-found', '--output', path];
  const key = (await kubectl.run(words)).trim();
  if (key === '') throw noRun(run, kubectl.words);
  return Buffer.from(key, 'base64').toString();
}

async function mustBe(kubectl: Pick<ClusterAccess, 'run' | 'words'>, run: string): Promise<void> {
  const words = ['get', `job/${ownerName(run)}`, '--ignore-not-found', '--output', 'name'];
  if ((await kubectl.run(words)).trim() === '') throw noRun(run, kubectl.words);
}

const noRun = (run: string, { runs }: ClusterWords): ExpectedError =>
  new ExpectedError('run-missing', `There is no run ${run} in this namespace${runs}.`);
