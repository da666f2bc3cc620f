import { jsonDocument } from '../../base/text';
import {
  examineCluster,
  type ClusterReport,
  type Finding,
} from '../../agents/kubernetes/examineCluster';
import { ownedBy, ownerOf, type ClusterRun } from '../../agents/kubernetes/manifest';
import type { ScenarioParser } from '../../run/scenarioFile';
import { scenarioFor } from '../../run/probeTarget';
import { exitCode } from '../exitCode';
import { canColour, referenceValue, type ProcessIo } from '../io';
import { fixedBlank, paintAll, wrapped, type Line, type Tone } from '../views/line';
import { kubectlOf, type PlaceDeps, type PlaceFlags } from './onKubernetes';
import { targetHosts } from '../../run/runInCluster';
import { newRunId } from '../../agents/messages';

export interface DoctorClusterFlags extends PlaceFlags {
  readonly agents?: number;
  readonly image: string;
  readonly busImage: string;
  /** Only its name counts: nobody is asked. */
  readonly target?: string;
  readonly json?: boolean;
  /** Prints what a run makes, and asks nobody. */
  readonly manifest?: boolean;
}

export interface DoctorClusterDeps extends PlaceDeps {
  readonly parseScenario: ScenarioParser;
  readonly node: string;
  readonly platform: string;
}

/** Whether a run would start in a cluster; exit code 2 when something keeps it from starting. Nothing is made there. */
export async function doctorCluster(
  flags: DoctorClusterFlags,
  io: ProcessIo,
  deps: DoctorClusterDeps,
): Promise<number> {
  const { agents = 1, image, busImage, target: text } = flags;
  const target = text === undefined ? undefined : scenarioFor({ text }, deps.parseScenario).target;
  const reference = (kind: 'env' | 'secret', name: string): string | undefined =>
    referenceValue(io.env, kind, name);
  const given: ClusterRun = {
    ...{ run: newRunId(), agents, plannedS: 0, image, busImage },
    ...{ scenarioName: 'scenario.yaml', files: {}, flags: [], bundle: {}, secrets: {} },
    keys: { lead: madeLater, agent: madeLater },
    hosts: targetHosts(target, { reference }),
  };
  if (flags.manifest === true) {
    const items = [ownerOf(given), ...ownedBy(madeLater, given)];
    io.stdout.write(jsonDocument({ apiVersion: 'v1', kind: 'List', items }));
    return exitCode.done;
  }
  const report = await examineCluster(kubectlOf(flags, deps), flags.namespace, given);
  const { node, platform } = deps;
  io.stdout.write(
    flags.json === true
      ? jsonDocument({ node, platform, cluster: report })
      : paintAll(clusterLines(report, agents), canColour(io)),
  );
  return isReady(report) ? exitCode.done : exitCode.badInput;
}

/** In the place of keys, and of the id that the cluster gives to the owner. */
const madeLater = 'made-for-each-run';

const isReady = ({ findings }: ClusterReport): boolean =>
  findings.every(({ status }) => status !== 'bad');

const marks: Readonly<Record<Finding['status'], readonly [string, Tone | undefined]>> = {
  good: ['✓', 'good'],
  note: ['·', undefined],
  warning: ['!', 'warn'],
  bad: ['✗', 'bad'],
};
const nameWidth = 15;
const indent = ' '.repeat(nameWidth + 2);

function clusterLines(report: ClusterReport, agents: number): Line[] {
  const who = agents === 1 ? '1 agent' : `${agents} agents`;
  const end = isReady(report)
    ? `Nothing keeps a run with ${who} from starting. Nothing was made.`
    : `A run with ${who} would not start: see ✗. Nothing was made.`;
  return [...report.findings.flatMap(findingLines), { text: '' }, { text: end }];
}

function findingLines({ check, status, text, advice }: Finding): Line[] {
  const [mark, tone] = marks[status];
  // The name is one word to who breaks lines.
  const name = check.replaceAll(' ', fixedBlank).padEnd(nameWidth, fixedBlank);
  return [
    ...wrapped(`${mark}${fixedBlank}${name}${text}`, 80, indent, tone),
    ...(advice === undefined ? [] : wrapped(`${indent}${advice}`, 80, indent)),
  ];
}
