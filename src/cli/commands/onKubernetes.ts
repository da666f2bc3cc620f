import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { english } from '../../base/text';
import { type ClusterPlace, ClusterView } from '../../agents/kubernetes/clusterView';
import type { Scenario } from '../../scenario/scenario';
import type { Override } from '../../scenario/read/overrides';
import { createRunQuestion, listReach } from '../../run/reach';
import { openScenarioObserver } from '../../run/prepareRun';
import {
  type ClusterParts,
  prepareClusterRun,
  type ClusterWishes,
  runInCluster,
} from '../../run/runInCluster';
import { readNamedFile } from '../../run/scenarioFile';
import type { ViewParts } from '../../run/viewedRun';
import { referenceValue, type ProcessIo } from '../io';
import { printable } from '../views/line';
import { SignalError } from '../exitCode';
import { ShownRun, viewerBusName, showRun, type ShowFlags } from './attachCommand';
import { confirmLoad } from './confirmLoad';
import { formatGatheredAgents } from './onHosts';
import { forwardRunBus } from '../../agents/kubernetes/clusterRuns';
import { connectBus } from '../../run/agentFiles';
import {
  type ClusterAccess,
  type ClusterWords,
  Kubectl,
  type KubectlOptions,
} from '../../agents/kubernetes/kubectl';
import { newRunId } from '../../agents/messages';

export interface ClusterFlags extends ClusterWishes {
  readonly run?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly keepGoing?: boolean;
  readonly joinWithin?: number;
  readonly agentTimeout?: number;
  readonly yes?: boolean;
}

interface ClusterDeps extends ViewParts, KubectlDeps {
  readonly workerScript: string;
  readonly notRunnable: (scenario: Scenario) => string | undefined;
}

interface ReadScenario {
  readonly scenario: Scenario;
  readonly name: string;
  readonly text: string;
}

/** Runs a scenario in a cluster, shows it here, and leaves nothing there; exits with the run's code. */
export async function runOnKubernetes(
  { scenario, name, text }: ReadScenario,
  overrides: readonly Override[],
  flags: ClusterFlags,
  io: ProcessIo,
  deps: ClusterDeps,
): Promise<number> {
  const { stderr, env, cwd } = io;
  const { run = newRunId(), keepGoing = false } = flags;
  const { joinWithin: joinWithinMs, agentTimeout: agentTimeoutMs } = flags;
  const folder = path.dirname(path.resolve(cwd, name));
  const context: ClusterParts['context'] = {
    reference: (kind, of) => referenceValue(env, kind, of),
    readFile: (part, mostBytes) => readNamedFile(folder, part, mostBytes),
  };
  const limits = { keepGoing, joinWithinMs, agentTimeoutMs };
  const what = { run, scenario, title: name, text, overrides, ...limits };
  const otherwise = (variable: string): string =>
    `, or name a Secret of the cluster that has ${variable} with --secret`;
  const given = await prepareClusterRun(what, flags, { ...deps, context, otherwise });
  const place = await new ClusterView(openKubectlFor(flags, deps), flags.namespace).place();
  const { agents } = given;
  const where = `${agents} ${agents === 1 ? 'agent' : 'agents'} in ${formatPlace(place)}`;
  if (flags.yes !== true) {
    const reach = listReach(scenario, context, { isElsewhere: true });
    const asked = createRunQuestion(scenario, reach);
    if (!(await confirmLoad({ ...asked, url: `${asked.url}, by ${where}` }, scenario, io)))
      throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
  }
  const say = (line: string): void => {
    stderr.write(`${printable(line)}\n`);
  };
  say(`Run ${run} begins with ${where}.`);
  const leaving = new AbortController();
  const stopping = new AbortController();
  const shown = new ShownRun({ out: flags.out ?? '.signalr-bench', json: flags.json === true }, io);
  const subscription = io.onSignal((signal) => {
    const isFirst = !stopping.signal.aborted;
    shown.say(
      isFirst
        ? 'Stopping; what was measured is kept. Once more leaves at once.'
        : 'Leaving at once; the run is removed.',
    );
    (isFirst ? stopping : leaving).abort(new SignalError(signal));
  });
  try {
    const finished = await runInCluster(
      given,
      flags,
      shown.request,
      {
        ...shown.shell,
        t: english,
        words: flagWords,
        progress: say,
        gathered: (nodes, agents) => say(formatGatheredAgents(nodes, agents)),
        leaving: leaving.signal,
        stopping: stopping.signal,
      },
      {
        ...deps,
        observe: () =>
          openScenarioObserver(scenario, { context, say: shown.shell.say, t: english }),
      },
    );
    return shown.finish(finished, stopping.signal.reason);
  } catch (error) {
    shown.close();
    shown.sayKept();
    throw error;
  } finally {
    shown.close();
    subscription.dispose();
  }
}

/** Shows a run of a cluster without ending it. */
export async function attachInCluster(
  run: string,
  flags: PlaceFlags & ShowFlags,
  io: ProcessIo,
  deps: ViewParts & KubectlDeps,
): Promise<number> {
  const { address, forwarding } = await forwardRunBus(openKubectlFor(flags, deps), run);
  try {
    const bus = await connectBus({ ...address, name: viewerBusName });
    try {
      return await showRun(bus, run, flags, io, deps);
    } finally {
      await bus.close();
    }
  } finally {
    forwarding.close();
  }
}

export interface PlaceFlags {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  readonly kubectl?: string | undefined;
}

export interface KubectlDeps {
  readonly openKubectl?: (options: KubectlOptions) => ClusterAccess;
}

export const openKubectlFor = (
  { namespace, context, kubectl }: PlaceFlags,
  { openKubectl = (options) => new Kubectl(options) }: KubectlDeps,
): ClusterAccess => openKubectl({ namespace, context, program: kubectl, words: flagWords });

export const flagWords: ClusterWords = {
  ...{ namespace: ' with --namespace', context: ' with --context' },
  images: ': --image and --bus-image',
  runs: ': agents list shows those there are',
};

/** `namespace load of aks-load`. */
export const formatPlace = ({ context = 'this cluster', namespace }: ClusterPlace): string =>
  `namespace ${namespace} of ${context}`;
