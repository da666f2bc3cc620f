import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import { hideSecrets } from '../../runner/lead/hideSecrets';
import type { MachineLimits } from '../../runner/lead/machineLimits';
import { probeAgreed } from '../../targets/connect/probeAgreed';
import type { HubProbe } from '../../wire/connect/probeHub';
import { hubCode } from '../../usecases/hubCode';
import { contractMethods } from '../../usecases/hubContract';
import type { Endpoint } from '../../base/endpoint';
import type { Scenario } from '../../scenario/scenario';
import type { ServiceProbe } from '../../targets/service/probeService';
import type { OpenTarget, TargetContext } from '../../targets/target';
import { exitCode } from '../exitCode';
import { jsonDocument } from '../../base/visibleText';
import { paintAll, wrap, type Line } from '../views/line';
import { canColour, referenceValue, type ProcessIo } from '../io';
import { readScenarioFile } from '../../session/scenarioFile';
import type { ScenarioParser } from '../../session/readScenario';
import { confirmRedirect } from './confirmLoad';

export interface DoctorFlags {
  readonly target?: string;
  readonly json?: boolean;
  /** A hub that redirects to another machine is followed without confirmation. */
  readonly yes?: boolean;
}

/** What this machine did in a short loop against itself. */
export interface Calibration {
  readonly messagesPerSecond: number;
  readonly cpuUsPerMessage: number;
}

export interface DoctorDeps {
  readonly parseScenario: ScenarioParser;
  readonly machineLimits: () => Promise<MachineLimits>;
  readonly calibrate: () => Promise<Calibration>;
  readonly openTarget: (scenario: Scenario, context: TargetContext) => Promise<OpenTarget>;
  readonly probeHub: (endpoint: Endpoint) => Promise<HubProbe>;
  /** Undefined when the text is no connection string. */
  readonly probeConnection: (
    text: string,
    context: TargetContext,
  ) => Promise<ServiceProbe | undefined>;
  readonly serverScript: string;
  readonly node: string;
  readonly platform: string;
}

type ProbedHub = HubProbe & {
  readonly url: string;
  readonly snippet?: string;
  /** What is missing where there is no hub at all. */
  readonly lacks?: readonly string[];
};

interface Report {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  /** Null where there is no limit or it cannot be read. */
  readonly fileDescriptors: number | null;
  readonly localPorts: number | null;
  readonly calibration: Calibration;
  readonly target?: ProbedHub | ServiceProbe;
}

/**
 * What this machine can do, and whether a hub can be measured or a service takes the key. Exit code 3 when
 * the target cannot be reached or refuses the key; missing methods are said, with the code that adds them.
 */
export async function doctorCommand(
  flags: DoctorFlags,
  io: ProcessIo,
  deps: DoctorDeps,
): Promise<number> {
  // The target first: a mistyped one should not wait for the calibration.
  const target =
    flags.target === undefined ? undefined : await examine(flags.target, flags, io, deps);
  const report: Report = {
    node: deps.node,
    platform: deps.platform,
    ...(await deps.machineLimits()),
    calibration: await deps.calibrate(),
    ...(target && { target }),
  };
  const { stdout } = io;
  stdout.write(
    flags.json
      ? jsonDocument(report)
      : paintAll(reportLines(report), canColour(io)) + snippetOf(report.target),
  );
  return target && !target.reachable ? exitCode.noTarget : exitCode.done;
}

async function examine(
  text: string,
  { yes }: DoctorFlags,
  io: ProcessIo,
  deps: DoctorDeps,
): Promise<NonNullable<Report['target']>> {
  const { env, cwd } = io;
  const context: TargetContext = {
    reference: (kind, name) => referenceValue(env, kind, name),
    serverScript: deps.serverScript,
    readFile: (name) => readScenarioFile(path.resolve(cwd, name)),
  };
  const service = await deps.probeConnection(text, context);
  if (service !== undefined) return service;
  const { scenario, problems } = deps.parseScenario('mode: simple\n', {
    overrides: [{ path: 'config.target', value: text }],
  });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error || !scenario) {
    throw new ExpectedError('bad-target', error?.message ?? `${text} is no target.`);
  }
  const target = await deps.openTarget(scenario, context);
  try {
    const agree =
      yes === true
        ? undefined
        : (host: string): Promise<boolean> => confirmRedirect(host, target.url, io);
    const probe = await probeAgreed(target, deps.probeHub, agree);
    if (probe === undefined)
      throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was sent there.');
    return probedHub(probe, target);
  } finally {
    await target.dispose();
  }
}

function probedHub(probe: HubProbe, { url, secrets }: OpenTarget): ProbedHub {
  if (probe.reachable) {
    const missing = probe.methods.some(({ present }) => !present);
    const snippet = hubCode(probe.dialect ?? 'recordLatency');
    return { url, ...probe, ...(missing && { snippet }) };
  }
  const nothing = probe.errorClass === 'notFound';
  const shown = { ...probe, message: hideSecrets(probe.message, secrets) };
  const lacks = contractMethods().recordLatency;
  return { url, ...shown, ...(nothing && { lacks, snippet: hubCode('recordLatency') }) };
}

const snippetOf = (target: Report['target']): string =>
  target !== undefined && 'snippet' in target ? (target.snippet ?? '') : '';

function reportLines(report: Report): Line[] {
  const { calibration, fileDescriptors, localPorts } = report;
  const connections = (limit: number | null): string =>
    limit === null ? 'no limit found' : formatCount(limit);
  const row = (name: string, value: string): Line => ({ text: `${name.padEnd(18)} ${value}` });
  return [
    row('Node', `${report.node} on ${report.platform}`),
    row('cores', formatCount(report.cores)),
    row('file descriptors', `${connections(fileDescriptors)}, one for each connection`),
    row('local ports', `${connections(localPorts)}, one for each connection to an address`),
    row(
      'ceiling',
      `about ${formatCount(roundedTo2(calibration.messagesPerSecond))} msg/s on one core, ${formatCount(calibration.cpuUsPerMessage, 1)} µs of CPU per message`,
    ),
    ...(report.target ? [{ text: '' }, ...targetLines(report.target)] : []),
  ];
}

/** A quick measurement deserves two digits. */
function roundedTo2(value: number): number {
  return Number(value.toPrecision(2));
}

function targetLines(target: NonNullable<Report['target']>): Line[] {
  if (!target.reachable) {
    const { url, errorClass, message } = target;
    return [
      ...wrap(`✗ ${url}: ${message} (${errorClass})`, 80, '  ').map((text) => ({
        text,
        tone: 'bad' as const,
      })),
      ...('lacks' in target ? lackLines('There is no hub at this path', target.lacks) : []),
    ];
  }
  if (!('methods' in target)) {
    const answered = `answers within ${formatCount(target.connectMs, 1)} ms and takes the ${target.signedIn ? 'sign-in' : 'key'}`;
    const { missingRestRole: role } = target;
    const note =
      role === undefined
        ? ''
        : `REST is not allowed to this identity; only serverless scenarios need it, and with it the role ${role}.`;
    return [
      ...wrap(`✓ ${target.url}: ${answered}`, 80, '  ').map((text) => ({
        text,
        tone: 'good' as const,
      })),
      ...(note === '' ? [] : wrap(`  ${note}`, 80, '  ').map((text) => ({ text }))),
    ];
  }
  const { url, connectMs, methods, dialect } = target;
  const missing = methods.filter(({ present }) => !present).map(({ name }) => name);
  const connected = `connected within ${formatCount(connectMs, 1)} ms${dialect === undefined ? '' : `, dialect ${dialect}`}`;
  return [
    ...wrap(`✓ ${url}: ${connected}`, 80, '  ').map((text) => ({ text, tone: 'good' as const })),
    ...methods.map(({ name, present, detail }) => ({
      text: `  ${present ? '✓' : '✗'} ${name}${detail === undefined ? '' : `  ${detail}`}`,
      ...(!present && { tone: 'bad' as const }),
    })),
    ...(missing.length === 0
      ? [{ text: '' }, { text: 'The hub has all bench methods.' }]
      : lackLines('The hub', missing)),
  ];
}

/** What is missing, and what follows: the code that adds it. */
function lackLines(who: string, methods: readonly string[] = []): Line[] {
  const lacks = who === 'The hub' ? 'The hub lacks' : `${who}: it lacks`;
  return [
    { text: '' },
    ...wrap(`${lacks} ${methods.join(', ')}.`, 80).map((text) => ({ text })),
    { text: 'This adds a hub with all of them to an ASP.NET Core server:' },
    { text: '' },
  ];
}
