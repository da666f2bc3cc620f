import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import { jsonDocument } from '../../base/text';
import { adviceForError } from '../../measure/judge/hubComplaint';
import type { MachineLimits } from '../../engine/lead/machineLimits';
import {
  readHubCode,
  probeTarget,
  type ProbedHub,
  type ProbeParts,
  scenarioForTarget,
} from '../../run/probeTarget';
import { readNamedFile, type ScenarioParser } from '../../run/scenarioFile';
import type { Override } from '../../scenario/read/overrides';
import type { ServiceProbe, TargetContext } from '../../targets/target';
import { contractMethods, useCasesWith } from '../../usecases/registry';
import { exitCode } from '../exitCode';
import { canColour, referenceValue, type ProcessIo } from '../io';
import { paintAll, wrapped, type Line, fixedBlank, type Tone } from '../views/line';
import { confirmRedirect } from './confirmLoad';
import {
  examineCluster,
  type ClusterReport,
  type Finding,
} from '../../agents/kubernetes/examineCluster';
import { ownedObjects, ownerJob, type ClusterRun } from '../../agents/kubernetes/manifest';
import { openKubectlFor, type KubectlDeps, type PlaceFlags } from './onKubernetes';
import { targetHosts } from '../../run/runInCluster';
import { newRunId } from '../../agents/messages';

interface DoctorFlags {
  readonly on?: undefined;
  readonly target?: string;
  readonly set?: readonly Override[];
  readonly json?: boolean;
  readonly yes?: boolean;
}

interface Calibration {
  readonly messagesPerSecond: number;
  readonly cpuUsPerMessage: number;
}

export interface DoctorDeps extends ProbeParts, DoctorClusterDeps {
  readonly machineLimits: () => Promise<MachineLimits>;
  readonly calibrate: () => Promise<Calibration>;
  readonly serverScript: string;
}

type ExaminedHub = ProbedHub & {
  readonly snippet?: string;
  readonly advice?: string;
  readonly lacks?: readonly string[];
};

interface Report {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  /** Null: no limit, or unknown. */
  readonly fileDescriptors: number | null;
  readonly localPorts: number | null;
  readonly calibration: Calibration;
  readonly target?: ExaminedHub | ServiceProbe;
}

/** Reports on this machine and a target; exit code 3 when the target cannot be reached or refuses the key. */
export async function doctorCommand(
  flags: DoctorFlags | (DoctorClusterFlags & { readonly on: 'kubernetes' }),
  io: ProcessIo,
  deps: DoctorDeps,
): Promise<number> {
  if (flags.on === 'kubernetes') return doctorCluster(flags, io, deps);
  if (flags.set !== undefined && flags.target === undefined)
    throw new ExpectedError('flag-without-effect', '--set belongs to --target. Nothing was asked.');
  // First: a mistyped target should not wait for the calibration.
  const target =
    flags.target === undefined ? undefined : await examine(flags.target, flags, io, deps);
  const report: Report = {
    node: deps.node,
    platform: deps.platform,
    ...(await deps.machineLimits()),
    calibration: await deps.calibrate(),
    target,
  };
  const screen = paintAll(reportLines(report), canColour(io)) + snippetOf(target);
  io.stdout.write(flags.json ? jsonDocument(report) : screen);
  return target && !target.reachable ? exitCode.noTarget : exitCode.done;
}

async function examine(
  text: string,
  { yes, set = [] }: DoctorFlags,
  io: ProcessIo,
  deps: DoctorDeps,
): Promise<NonNullable<Report['target']>> {
  const { env, cwd } = io;
  const context: TargetContext = {
    reference: (kind, name) => referenceValue(env, kind, name),
    serverScript: deps.serverScript,
    readFile: (name) => readNamedFile(cwd, name),
  };
  const agree = yes
    ? undefined
    : (host: string, url: string): Promise<boolean> => confirmRedirect(host, url, io);
  const probed = await probeTarget({ text, overrides: set }, context, deps, agree);
  if (probed === undefined)
    throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was sent there.');
  if (probed.of === 'service') return probed.probe;
  const { probe } = probed;
  if (probe.reachable) {
    const missing = probe.methods.some(({ present }) => !present);
    const { dialect = 'recordLatency', classic } = probe;
    if (!missing) return probe;
    return { ...probe, snippet: readHubCode(deps.serverScript, dialect, classic) };
  }
  const { classic, errorClass, message } = probe;
  const advised = { ...probe, advice: adviceForError(errorClass, [message]) };
  if (errorClass !== 'notFound' && classic !== true) return advised;
  const { recordLatency, streams } = contractMethods();
  const lacks = classic ? recordLatency.filter((name) => !streams.includes(name)) : recordLatency;
  return { ...advised, lacks, snippet: readHubCode(deps.serverScript, 'recordLatency', classic) };
}

const snippetOf = (target: Report['target']): string =>
  target !== undefined && 'snippet' in target ? (target.snippet ?? '') : '';

function reportLines(report: Report): Line[] {
  const { calibration, fileDescriptors, localPorts } = report;
  const connections = (limit: number | null): string =>
    limit === null ? 'no limit found' : formatCount(limit);
  const perSecond = Number(calibration.messagesPerSecond.toPrecision(2));
  const cpu = `${formatCount(calibration.cpuUsPerMessage, 1)} µs of CPU`;
  const row = (name: string, value: string): Line => ({ text: `${name.padEnd(18)} ${value}` });
  return [
    row('Node', `${report.node} on ${report.platform}`),
    row('cores', formatCount(report.cores)),
    row('file descriptors', `${connections(fileDescriptors)} a process, one for each connection`),
    row('local ports', `${connections(localPorts)} for each pair of a local address and a target`),
    row('ceiling', `about ${formatCount(perSecond)} msg/s on one core, ${cpu} per message`),
    ...(report.target ? [{ text: '' }, ...targetLines(report.target)] : []),
  ];
}

function targetLines(target: NonNullable<Report['target']>): Line[] {
  const { url } = target;
  if (!target.reachable) {
    return [
      ...wrapped(`✗ ${url}: ${target.message} (${target.errorClass})`, 80, '  ', 'bad'),
      ...('advice' in target ? wrapped(`  ${target.advice}`, 80, '  ') : []),
      ...('lacks' in target
        ? lackLines('There is no hub at this path. A benchmark needs', target.lacks, target.classic)
        : []),
    ];
  }
  const within = `within ${formatCount(target.connectMs, 1)} ms`;
  if (!('methods' in target)) {
    const { missingRestRole: role } = target;
    const note = `  REST is not allowed to this identity; only serverless scenarios need it, and with it the role ${role}.`;
    const taken = target.signedIn ? 'sign-in' : 'key';
    return [
      ...wrapped(`✓ ${url}: answers ${within} and accepts the ${taken}`, 80, '  ', 'good'),
      ...(role === undefined ? [] : wrapped(note, 80, '  ')),
    ];
  }
  const { methods, dialect, classic = false } = target;
  const missing = methods.filter(({ present }) => !present).map(({ name }) => name);
  const isUncertain = classic && methods.some(({ present, detail }) => present && detail);
  const spoken = dialect === undefined ? '' : `, dialect ${dialect}`;
  return [
    ...wrapped(`✓ ${url}: connected ${within}${spoken}`, 80, '  ', 'good'),
    ...(classic ? wrapped(`  ${isClassic}`, 80, '  ') : []),
    ...methods.map(({ name, present, detail }) => ({
      text: `  ${present ? '✓' : '✗'} ${name}${detail === undefined ? '' : `  ${detail}`}`,
      ...(!present && { tone: 'bad' as const }),
    })),
    ...(isUncertain ? [{ text: '' }, ...wrapped(isHidden, 80)] : runsLines(target)),
    ...(missing.length === 0
      ? isUncertain
        ? []
        : [{ text: '' }, { text: 'The hub has all bench methods.' }]
      : lackLines('The hub lacks', missing, classic)),
  ];
}

function runsLines(
  hub: Pick<Extract<ProbedHub, { reachable: true }>, 'methods' | 'dialect' | 'classic'>,
): Line[] {
  const { methods, dialect, classic = false } = hub;
  const present = new Set(methods.flatMap((method) => (method.present ? [method.name] : [])));
  const able = useCasesWith(present, dialect ?? 'recordLatency');
  const now = `It can run ${[...able, 'connectOnly'].join(', ')}; and invoke and session, which call methods of your own.`;
  const isSilent = dialect === undefined && !classic && able.length > 0;
  return [{ text: '' }, ...wrapped(now, 80), ...(isSilent ? wrapped(isUngreeted, 80) : [])];
}

const isUngreeted =
  'It does not send OnConnected to those who connect, by which a run knows hubs of the dialect recordLatency: send it as in the code below, or write `dialect: recordLatency` in the scenario.';
const isHidden =
  'Not certain whether the hub has them: the server does not say why a call fails. With EnableDetailedErrors in its HubConfiguration it does.';
const isClassic =
  'A hub of ASP.NET SignalR, the one of .NET Framework: scenarios need connectionType: AspNet.';

const lackLines = (what: string, methods: readonly string[] = [], classic = false): Line[] => [
  { text: '' },
  ...wrapped(`${what} ${methods.join(', ')}.`, 80),
  {
    text: classic
      ? 'This adds a hub with all of them to a server of .NET Framework:'
      : 'This adds a hub with all of them to an ASP.NET Core server:',
  },
  { text: '' },
];

interface DoctorClusterFlags extends PlaceFlags {
  readonly agents?: number;
  readonly image: string;
  readonly busImage: string;
  readonly target?: string;
  readonly json?: boolean;
  readonly manifest?: boolean;
}

interface DoctorClusterDeps extends KubectlDeps {
  readonly parseScenario: ScenarioParser;
  readonly node: string;
  readonly platform: string;
}

/** Whether a run would start in a cluster; exit code 2 when not. Changes nothing there. */
async function doctorCluster(
  flags: DoctorClusterFlags,
  io: ProcessIo,
  deps: DoctorClusterDeps,
): Promise<number> {
  const { agents = 1, image, busImage, target: text } = flags;
  const target =
    text === undefined ? undefined : scenarioForTarget({ text }, deps.parseScenario).target;
  const reference = (kind: 'env' | 'secret', name: string): string | undefined =>
    referenceValue(io.env, kind, name);
  const given: ClusterRun = {
    ...{ run: newRunId(), agents, plannedS: 0, image, busImage },
    ...{ scenarioName: 'scenario.yaml', files: {}, flags: [], bundle: {}, secrets: {} },
    keys: { lead: madeLater, agent: madeLater },
    hosts: targetHosts(target, { reference }),
  };
  if (flags.manifest === true) {
    const items = [ownerJob(given), ...ownedObjects(madeLater, given)];
    io.stdout.write(jsonDocument({ apiVersion: 'v1', kind: 'List', items }));
    return exitCode.done;
  }
  const report = await examineCluster(openKubectlFor(flags, deps), flags.namespace, given);
  const { node, platform } = deps;
  io.stdout.write(
    flags.json === true
      ? jsonDocument({ node, platform, cluster: report })
      : paintAll(clusterLines(report, agents), canColour(io)),
  );
  return isReady(report) ? exitCode.done : exitCode.badInput;
}

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
  const name = check.replaceAll(' ', fixedBlank).padEnd(nameWidth, fixedBlank);
  return [
    ...wrapped(`${mark}${fixedBlank}${name}${text}`, 80, indent, tone),
    ...(advice === undefined ? [] : wrapped(`${indent}${advice}`, 80, indent)),
  ];
}
