import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ExpectedError } from '../../base/expectedError';
import { formatBytes } from '../../base/units';
import type { Event, Pod } from 'kubernetes-types/core/v1';
import { readJson, type ClusterAccess, type Forwarding } from './kubectl';
import {
  busPort,
  busService,
  busWithinS,
  type ClusterRun,
  leadUser,
  ownedBy,
  ownerName,
  ownerOf,
  runSelector,
} from './manifest';

const compress = promisify(gzip);
/** What a coordinator and an agent load. */
const scripts = ['cli.js', 'commands.js', 'worker.js', 'jsonPath.js', 'sdk.js', 'optional.js'];
/** Optional parts of a build. */
const optional = ['servers.js'];
/** A ConfigMap takes a megabyte, of which a script is to start the bundle. */
const mostBundleBytes = 900_000;
const removedWithinS = 60;
const lookEveryMs = 500;
/** For what is just being made when nobody wants it any more. */
const madeWithinMs = 15_000;
/** Of objects in a sentence. */
const mostNamed = 5;
/** Beside the time that kubectl gives itself. */
const spareS = 15;

export const newBusKeys = (): ClusterRun['keys'] => ({
  lead: randomBytes(24).toString('hex'),
  agent: randomBytes(24).toString('hex'),
});

/** The scripts of this build, compressed. @throws ExpectedError `bundle` when one is missing or they are too large */
export async function bundleOf(folder: string): Promise<Record<string, Buffer>> {
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

/** A run in a cluster: everything it has there belongs to one object, and goes with it. */
export class RunInCluster {
  private forwarding: Forwarding | undefined;
  /** Settles when no more objects come. */
  private making: Promise<void> = Promise.resolve();
  private isOver = false;

  private constructor(
    private readonly kubectl: ClusterAccess,
    private readonly given: ClusterRun,
  ) {}

  /**
   * Makes everything and waits for the bus.
   * @param calledOff rejects when the run is not wanted any more
   * @throws ExpectedError with what kubectl says; nothing is left then
   */
  static async start(
    kubectl: ClusterAccess,
    given: ClusterRun,
    calledOff?: Promise<never>,
  ): Promise<RunInCluster> {
    const started = new RunInCluster(kubectl, given);
    const making = started.make();
    // After it was called off nobody waits for it.
    making.catch(() => undefined);
    try {
      await (calledOff ? Promise.race([making, calledOff]) : making);
      return started;
    } catch (error) {
      const trouble = await started.trouble().catch(() => []);
      // What is just being made would come after what is removed; what comes later still has its deadline.
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
      const uid = await kubectl.create(ownerOf(given));
      await kubectl.createAll(ownedBy(uid, given));
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

  /** How the bus is reached from here. */
  get bus(): { readonly url: string; readonly user: string; readonly password: string } {
    const url = `nats://127.0.0.1:${this.forwarding!.port}`;
    return { url, user: leadUser, password: this.given.keys.lead };
  }

  private trouble(): Promise<string[]> {
    return troublesOf(this.kubectl, this.given.run);
  }

  /** Nothing of the run is left in the namespace. @throws ExpectedError `cluster-left` with what removes it */
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

/** What a person does who has to remove a run. */
const removeWords = (run: string): string => `kubectl delete job ${ownerName(run)}`;

/**
 * Removes all that a run has in the namespace, whoever has made it, and waits until its pods have ended: the owner goes at
 * once, what it owns follows. That it waited for them would need rights that some clusters do not give.
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
export async function troublesOf(
  kubectl: Pick<ClusterAccess, 'list' | 'run'>,
  run: string,
): Promise<string[]> {
  const pods = await kubectl.list<Pod>('pods', runSelector(run));
  return [...pods.flatMap((pod) => troubleOf(pod)), ...(await refusals(kubectl, run))];
}

/** Pods that there are not, because the cluster refuses them. Events are not everybody's to read. */
async function refusals(kubectl: Pick<ClusterAccess, 'run'>, run: string): Promise<string[]> {
  const only = ['--field-selector', 'type=Warning,reason=FailedCreate', '--output', 'json'];
  const text = await kubectl.run(['get', 'events', ...only]).catch(() => '');
  const { items = [] } = (text === '' ? {} : readJson(text)) as { items?: readonly Event[] };
  const own = items.filter(({ involvedObject: { name } }) =>
    name?.startsWith(`${ownerName(run)}-`),
  );
  return [...new Set(own.map(refusalOf))];
}

/** Without the name of the pod, which is another one at each try. */
const refusalOf = ({ involvedObject: { kind = '', name = '' }, message = '' }: Event): string => {
  const why = message.replace(/^Error creating: (pods "[^"]*" is )?/, '');
  return `${kind} ${name} gets no pod: ${why}.`;
};

export function troubleOf({ metadata, status }: Pod): string[] {
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
