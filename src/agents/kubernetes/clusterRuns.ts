/** Runs of a namespace, whoever has started them: who takes part, what they write, and how they are removed. */
import { getOrCreate } from '../../base/collect';
import type { Job } from 'kubernetes-types/batch/v1';
import type { Pod } from 'kubernetes-types/core/v1';
import { ExpectedError } from '../../base/expectedError';
import { subjectsOf } from '../messages';
import { removeRun, troubleOf } from './clusterRun';
import type { ClusterAccess, ClusterWords, Forwarding } from './kubectl';
import {
  busPort,
  busService,
  keysName,
  leadPasswordKey,
  leadUser,
  ownerName,
  runLabel,
  runSelector,
} from './manifest';

type PodState = 'pending' | 'running' | 'done' | 'failed' | 'leaving';

export interface SeenPod {
  /** In the cluster. */
  readonly pod: string;
  /** For people: `agent x7k2p`, `bus`, `coordinator`. */
  readonly name: string;
  readonly node?: string;
  readonly state: PodState;
  /** When it was made, ISO 8601. */
  readonly since?: string;
  /** Why it does not run. */
  readonly trouble?: string;
}

export interface SeenRun {
  readonly run: string;
  readonly since?: string;
  /** When the cluster itself begins to remove it. */
  readonly until?: string;
  readonly pods: readonly SeenPod[];
}

type SeenObject = Job | Pod;

const componentLabel = 'app.kubernetes.io/component';
const partNames: Readonly<Record<string, string>> = { bus: 'bus', lead: 'coordinator' };
/** Of each pod. */
const mostLogBytes = 256 * 1024;

/** The oldest first. @throws ExpectedError with what kubectl says */
export async function runsIn(kubectl: Pick<ClusterAccess, 'list'>): Promise<SeenRun[]> {
  return seenRuns(await kubectl.list<SeenObject>('jobs,pods', runLabel));
}

function seenRuns(objects: readonly SeenObject[]): SeenRun[] {
  const runs = new Map<string, SeenObject[]>();
  for (const object of objects) {
    const run = object.metadata?.labels?.[runLabel];
    if (run !== undefined) getOrCreate(runs, run, () => []).push(object);
  }
  return [...runs]
    .map(([run, of]) => seenRun(run, of))
    .sort((a, b) => (a.since ?? '').localeCompare(b.since ?? ''));
}

function seenRun(run: string, objects: readonly SeenObject[]): SeenRun {
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

const order = ({ name }: SeenPod): number =>
  [partNames['lead'], partNames['bus']].indexOf(name) >>> 0;

function seenPod(run: string, pod: Pod): SeenPod {
  const { metadata, spec, status } = pod;
  const part = metadata?.labels?.[componentLabel] ?? '';
  const name = metadata?.name ?? '';
  const trouble = troubleOf(pod).join(' ');
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

/** What one pod has written. */
interface PodLog {
  readonly name: string;
  readonly lines: readonly string[];
}

/**
 * The last lines of each pod of a run, or of one that is named as {@link runsIn} does.
 * @throws ExpectedError `run-id`, `run-missing`, `agent-missing`, or with what kubectl says
 */
export async function logsOf(
  kubectl: Pick<ClusterAccess, 'list' | 'run' | 'words'>,
  run: string,
  lines: number,
  one?: string,
): Promise<PodLog[]> {
  subjectsOf(run);
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
  // In one call; a pod that has not started has none.
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
export async function removeNamed(
  kubectl: Pick<ClusterAccess, 'run' | 'words'>,
  run: string,
): Promise<void> {
  subjectsOf(run);
  await mustBe(kubectl, run);
  await removeRun(kubectl, run);
}

/** How the bus of a run is reached that somebody else has started. */
interface FoundBus {
  readonly address: { readonly url: string; readonly user: string; readonly password: string };
  /** Leads to it. */
  readonly forwarding: Forwarding;
}

/**
 * @param known key of its bus; absent: it is read from its Secret, which needs the right to
 * @throws ExpectedError `run-id`, `run-missing`, or with what kubectl says
 */
export async function busOf(
  kubectl: Pick<ClusterAccess, 'run' | 'forward' | 'words'>,
  run: string,
  known?: string,
): Promise<FoundBus> {
  subjectsOf(run);
  const password = known ?? (await keyOf(kubectl, run));
  // A service that is gone is said in words of the cluster.
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

/** @throws ExpectedError `run-missing` */
async function mustBe(kubectl: Pick<ClusterAccess, 'run' | 'words'>, run: string): Promise<void> {
  const words = ['get', `job/${ownerName(run)}`, '--ignore-not-found', '--output', 'name'];
  if ((await kubectl.run(words)).trim() === '') throw noRun(run, kubectl.words);
}

const noRun = (run: string, { runs }: ClusterWords): ExpectedError =>
  new ExpectedError('run-missing', `There is no run ${run} in this namespace${runs}.`);
