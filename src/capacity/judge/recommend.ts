import { joinWords, say, sentence, type Words } from '../../base/sentence';
import { azureServiceOf } from '../../base/serviceTraits';
import { formatBytes, formatCount, formatShare } from '../../base/units';
import type { Scenario, ScenarioEntry } from '../../scenario/scenario';
import { peakSenders, meanShareOfPeak, stepsOf } from '../../scenario/steps';
import { weightedMean } from '../../usecases/payloadSizes';
import { type Traffic, hubRunOf } from '../../usecases/useCase';
import {
  joinsByCalls,
  numberDuplicates,
  sessionStepsOf,
  listCalls,
} from '../../usecases/sessionSteps';
import { measuredPushWireSize } from '../load/wireSizes';
import {
  applicationSettings,
  assumptionsOf,
  entryTraffic,
  type SendingEntry,
} from '../load/loadOf';
import {
  checkSenders,
  idleTraffic,
  isGroupKind,
  measuredFormula,
  loadRates,
  tableFor,
  trafficLoad,
  type ServiceLoad,
} from '../load/serviceLoad';
import {
  undated,
  type Estimate,
  type EstimateInput,
  type EstimateOptions,
  type OrProblem,
  type Product,
  type TableSource,
} from '../model';
import { checkNumber, guides, rounded } from '../tables/publishedLimits';
import { formatFigure, formatNames, tableNames, formatUnit } from '../capacityWords';
import { assessDemand, checkInput } from '../estimate';
import { billingOf } from './billing';
import { adviceOf } from './notes';
import { findUseCase } from '../../usecases/registry';

interface MeasuredTraffic extends Omit<Traffic, 'intervalS' | 'connectionsPerUser'> {
  readonly inPerSecond: number;
  readonly outPerSecond: number;
  /** Duplicates and unexpected deliveries. */
  readonly extraPerSecond?: number;
  readonly isPushed?: boolean;
  /** Rates of the scenario, which count where less was sent because something was lost. */
  readonly planned?: Pick<MeasuredTraffic, 'inPerSecond' | 'outPerSecond'>;
}

export interface MeasuredLoad extends Omit<EstimateInput, 'useCases'> {
  readonly useCases: readonly MeasuredTraffic[];
  readonly step: number;
  readonly stepStatus?: StepStatus;
  readonly carried?: Carried | null;
  readonly remarks?: readonly Words[];
}

export type StepStatus = 'pass' | 'fail';

/** The last step that passed, and the size for its traffic; null when none fits. */
export interface Carried {
  readonly step: number;
  readonly unit: number | null;
}

export interface Recommendation extends Estimate {
  readonly step: number;
  readonly stepStatus: StepStatus;
  readonly carried?: Carried | null;
  readonly outbound: {
    readonly expectedPerSecond: number;
    readonly extraPerSecond: number;
    readonly pushedPerSecond?: number;
  };
  readonly headline: string;
  readonly reasons: readonly string[];
  /** Absent in results of earlier versions. */
  readonly reasonWords?: readonly Words[] | undefined;
}

/**
 * Lost deliveries count too: a server that loses them needs no less. @throws ExpectedError
 * `estimate-input`
 */
export function recommend(measured: MeasuredLoad, options: EstimateOptions = {}): Recommendation {
  const { product, useCases } = measured;
  const idle = idleTraffic(product);
  const assignment = checkInput(
    { ...measured, useCases: useCases.length === 0 ? [idle] : useCases },
    options,
  );
  const loads =
    useCases.length === 0
      ? [trafficLoad(product, assignment.connections, idle)]
      : useCases.map((traffic) => measuredLoad(product, traffic));
  const estimate = assessDemand({ ...assignment, loads }, measured.assumptions ?? []);
  const { step, stepStatus = 'pass', carried = null } = measured;
  const reasonWords = reasonsOf(measured, estimate, loads);
  return {
    ...estimate,
    billing: billingOf(product, loads),
    step,
    stepStatus,
    ...(stepStatus === 'fail' && { carried }),
    outbound: outboundOf(useCases),
    headline: headlineOf(estimate, { step, stepStatus, carried }),
    reasons: reasonWords.map((words) => say(words)),
    reasonWords,
  };
}

function measuredLoad(product: Product, traffic: MeasuredTraffic): ServiceLoad {
  const { kind, inPerSecond, outPerSecond, planned } = traffic;
  const senders = checkSenders(product, traffic);
  checkNumber(traffic.messageBytes, 'message_bytes');
  const zeroAllowed = true;
  const sent = checkNumber(inPerSecond, 'in_per_second', { zeroAllowed });
  const received = checkNumber(outPerSecond, 'out_per_second', { zeroAllowed });
  const members = isGroupKind(kind)
    ? checkNumber(traffic.groupMembers, 'group_members', { whole: true })
    : 1;
  const rates = loadRates(
    traffic,
    Math.max(sent, planned?.inPerSecond ?? 0),
    Math.max(received, planned?.outPerSecond ?? 0),
  );
  const table = tableFor(product, kind, members);
  return { kind, table, senders, ...rates, formula: measuredFormula(rates) };
}

function outboundOf(useCases: readonly MeasuredTraffic[]): Recommendation['outbound'] {
  const sum = (rate: (traffic: MeasuredTraffic) => number): number =>
    rounded(useCases.reduce((total, traffic) => total + rate(traffic), 0));
  const pushed = sum(({ isPushed, outPerSecond }) => (isPushed ? outPerSecond : 0));
  return {
    expectedPerSecond: sum(({ isPushed, outPerSecond, extraPerSecond = 0 }) =>
      isPushed ? 0 : outPerSecond - extraPerSecond,
    ),
    extraPerSecond: sum(({ extraPerSecond = 0 }) => extraPerSecond),
    ...(pushed > 0 && { pushedPerSecond: pushed }),
  };
}

function headlineOf(
  { unit, binding }: Estimate,
  { step, stepStatus, carried }: Required<Pick<MeasuredLoad, 'step' | 'stepStatus' | 'carried'>>,
): string {
  const size = unit === null ? undefined : formatUnit(unit);
  if (stepStatus === 'pass') return `${size ?? 'No size of this guide fits'}: ${binding.text}`;
  const failed = `Step ${formatFigure(step)} failed`;
  const before =
    carried === null
      ? `${failed}${step === 1 ? '' : ', and none before it passed'}.`
      : `${failed}; step ${formatFigure(carried.step)} passed (${carried.unit === null ? 'no size of this guide fits it' : formatUnit(carried.unit)}).`;
  const its = carried === null ? 'its traffic' : `the traffic of step ${formatFigure(step)}`;
  const needed =
    size === undefined
      ? 'no size of the published tables is enough'
      : `the published tables ask for ${size}`;
  return `${before} For ${its} ${needed}: ${binding.text}`;
}

function reasonsOf(
  { step, connections, useCases, stack = 'aspnetcore', remarks = [] }: MeasuredLoad,
  estimate: Estimate,
  loads: readonly ServiceLoad[],
): Words[] {
  const { binding, at_unit } = estimate;
  const rates = loads.flatMap((load, position): Words[] => {
    const { inMessages, outMessages, messageBytes } = load;
    if (inMessages === 0 && outMessages === 0) return [];
    const made = madeOf(outMessages, useCases[position]);
    const table = tableNames[load.table];
    const { inEach, answers } = useCases[position] ?? {};
    const [into, out] = [formatFigure(inMessages), formatFigure(outMessages)];
    const size = formatBytes(messageBytes);
    const both = '{0} {1} msg/s in and {2} msg/s out{3} of {4}';
    if (inEach !== 0) return [sentence(both, table, into, out, made, size)];
    const text = answers
      ? 'answers (compared with {0}) {1} msg/s out{2} of {3}'
      : 'callbacks (compared with {0}) {1} msg/s out{2} of {3}';
    return [sentence(text, table, out, made, size)];
  });
  const place = [formatFigure(step), formatFigure(connections)];
  const { source } = binding;
  const count = estimate.app_servers;
  const serverConnections = estimate.server_connections_per_app_server;
  const advice = adviceOf({ count, serverConnections }, stack);
  return [
    rates.length === 0
      ? sentence('Measured in step {0} with {1} connections: no traffic.', ...place)
      : sentence('Measured in step {0} with {1} connections: {2}.', ...place, joinWords(rates)),
    ...remarks,
    ...(source
      ? [sentence('Compared at {0} with {1}.', formatUnit(at_unit), placeOf(source))]
      : []),
    ...(advice ? [sentence('{0}.', advice)] : []),
  ];
}

function madeOf(outMessages: number, traffic: MeasuredTraffic | undefined): Words {
  const { outPerSecond = outMessages, extraPerSecond = 0 } = traffic ?? {};
  const isPlanned = outMessages > outPerSecond;
  if (extraPerSecond === 0 && !isPlanned) return '';
  const expected = formatFigure(outPerSecond - extraPerSecond);
  const measured =
    extraPerSecond === 0
      ? sentence('{0} expected', expected)
      : sentence('{0} expected and {1} extra', expected, formatFigure(extraPerSecond));
  return isPlanned
    ? sentence(' (as planned; measured: {0})', measured)
    : sentence(' ({0})', measured);
}

function placeOf({ heading, title, edition, line }: TableSource): Words {
  const dated = edition === undated ? sentence('undated') : sentence('edition {0}', edition);
  const at = line === undefined ? [] : [sentence('line {0}', String(line))];
  return joinWords([`"${heading}" in ${title}`, dated, ...at], ', ');
}

interface MeasuredCounts extends MeasuredBytes {
  readonly sent: number;
  readonly expected: number;
  readonly extra: number;
}

export interface MeasuredStep extends MeasuredCounts {
  readonly index: number;
  readonly planned?: number;
  readonly status: StepStatus;
  readonly carried?: Carried | null;
  /** Planned or open, whichever is more. */
  readonly connections: number;
  readonly lostConnections: number;
  readonly lost: number;
  /** Messages due at senders that were not connected. */
  readonly skipped?: number;
  readonly seconds: number;
  /** `missed` ones failed, or were put off for want of a reply. */
  readonly moves?: { readonly done: number; readonly missed: number };
  readonly entries?: readonly MeasuredCounts[];
  readonly calls?: readonly MeasuredCall[];
  /** In the measured time; without record separators. */
  readonly pushed?: readonly {
    readonly name: string;
    readonly messages: number;
    readonly bytes: number | null;
  }[];
}

interface MeasuredCall extends MeasuredBytes, Pick<MeasuredCounts, 'sent' | 'expected'> {
  /** Events that count with the calls that brought them. */
  readonly ofCalls?: number;
  readonly name: string;
  readonly entry?: string;
}

function countsOf(
  { entries, calls = [], ...step }: MeasuredStep,
  names: readonly string[],
  sending: SendingEntry,
  isWidest: boolean,
): MeasuredCounts {
  const { position, calls: own, traffic } = sending;
  const whole = entries?.[position] ?? step;
  if (own === undefined) return whole;
  const counted = calls.filter(
    ({ name, entry = names[position] }) => entry === names[position] && own.includes(name),
  );
  const sum = (of: (call: MeasuredCall) => number): number =>
    counted.reduce((total, call) => total + of(call), 0);
  const sent = sum((call) => call.sent);
  if (traffic.answers) return { sent: 0, expected: sent, extra: 0 };
  return {
    sent,
    expected: sum(({ expected, ofCalls = 0 }) => expected - ofCalls),
    extra: isWidest ? whole.extra : 0,
  };
}

const widths = ['echo', 'send_to_connection', 'send_to_group', 'broadcast'];

/**
 * The traffic with most receivers of each entry: extra deliveries are known for the entry alone.
 */
function widestOf(sending: readonly SendingEntry[]): ReadonlySet<SendingEntry> {
  const widest = new Map<number, SendingEntry>();
  const width = ({ traffic: { kind, inEach } }: SendingEntry): number =>
    inEach === 0 ? -1 : widths.indexOf(kind);
  for (const each of sending) {
    const other = widest.get(each.position);
    if (other === undefined || width(each) > width(other)) widest.set(each.position, each);
  }
  return new Set(widest.values());
}

/** The guides have no table for it: it goes out like a reply. */
function pushedTraffic(scenario: Scenario, { pushed = [], seconds }: MeasuredStep) {
  const sum = pushed.reduce((total, { messages }) => total + messages, 0);
  if (sum === 0 || seconds <= 0) return [];
  const leaving = pushed.map(({ name, messages, bytes }) => {
    const bodyBytes = bytes === null ? null : Math.round(bytes / messages);
    return measuredPushWireSize(scenario, { name, bodyBytes, weight: messages });
  });
  return [
    {
      kind: guides[azureServiceOf(scenario.service)].plainest,
      ...{ senders: 0, inPerSecond: 0, outPerSecond: sum / seconds },
      messageBytes: Math.max(1, Math.round(weightedMean(leaving, (bytes) => bytes))),
      messageSizes: leaving.map(({ bytes, weight }) => ({ bytes, weight })),
      ...{ leaving, inEach: 0, isPushed: true },
    },
  ];
}

/**
 * The scenario's rates count where something made the measured ones smaller, see {@link holdsBack}.
 */
export function measuredLoadOf(
  scenario: Scenario,
  measured: MeasuredStep,
): OrProblem<{ readonly load: MeasuredLoad }> {
  const { index, planned: place = index, connections, seconds, status, carried } = measured;
  const step = stepsOf(scenario)[place - 1];
  if (step === undefined) return { problem: `The scenario has no step ${index}.` };
  const entries = withMeasuredItems(scenario.entries, measured);
  const found = entryTraffic({ ...scenario, entries }, step, { measures: true });
  if ('problem' in found) return found;
  const product = azureServiceOf(scenario.service);
  const isHeldBack = holdsBack(scenario, measured);
  const names = numberDuplicates(scenario.entries.map(({ name }) => name));
  const widest = widestOf(found.sending);
  const sendingS = seconds * meanShareOfPeak(scenario.stages);
  const perSecond = (count: number): number => (sendingS > 0 ? count / sendingS : 0);
  return {
    load: {
      product,
      connections,
      step: index,
      stepStatus: status,
      ...(carried !== undefined && { carried }),
      useCases: [
        ...found.sending.flatMap((sending): MeasuredTraffic[] => {
          const { traffic } = sending;
          const isWidest = widest.has(sending);
          const { sent, expected, extra } = countsOf(measured, names, sending, isWidest);
          // Callbacks that nothing waits for are part of `pushed`.
          if (traffic.inEach === 0 && expected + extra === 0) return [];
          const load = trafficLoad(product, scenario.connections, traffic);
          const planned = { inPerSecond: load.inMessages, outPerSecond: load.outMessages };
          const { kind, senders, messageBytes, messageSizes, leaving, groupMembers } = traffic;
          const made: MeasuredTraffic = {
            ...{ kind, senders, messageBytes },
            ...(messageSizes && { messageSizes }),
            ...(leaving && { leaving }),
            inPerSecond: perSecond(sent),
            outPerSecond: perSecond(expected + extra),
            extraPerSecond: perSecond(extra),
            ...(isHeldBack && (traffic.inEach !== 0 || traffic.answers) && { planned }),
            ...(groupMembers !== undefined && { groupMembers }),
            ...(traffic.inEach === 0 && { inEach: 0 }),
            ...(traffic.answers && { answers: true as const }),
          };
          return [made];
        }),
        ...pushedTraffic(scenario, measured),
      ],
      ...(scenario.connectionType === 'AspNet' ? { stack: 'aspnet' as const } : {}),
      ...applicationSettings(scenario),
      remarks: [...peakWords(scenario), ...remarksOf(measured)],
      assumptions: assumptionsOf(scenario),
    },
  };
}

const peakWords = ({ stages }: Scenario): Words[] =>
  stages === undefined
    ? []
    : [
        sentence(
          'Senders came and went: the rates are those of the {0} at the peak, the mean was {1} of them.',
          ...[formatCount(peakSenders(stages)), formatShare(meanShareOfPeak(stages))],
        ),
      ];

/**
 * Dropped connections receive nothing, skipped messages never left, closed pacing waits, late joins
 * receive less, and groups joined by senders of stages grow with their number.
 */
function holdsBack(
  { pacing, stages, entries }: Scenario,
  { lost, skipped = 0, lostConnections, moves }: MeasuredStep,
): boolean {
  const missed = moves?.missed ?? 0;
  const grows = ({ parameters }: ScenarioEntry): boolean =>
    joinsByCalls(sessionStepsOf(parameters));
  if (stages !== undefined && entries.some(grows)) return true;
  return lost > 0 || skipped > 0 || lostConnections > 0 || missed > 0 || pacing === 'closed';
}

function remarksOf(measured: MeasuredStep): Words[] {
  const { lost, expected, extra, lostConnections, connections, moves, seconds } = measured;
  const { pushed = [] } = measured;
  const pushes = pushed.reduce((sum, { messages }) => sum + messages, 0);
  const remarks = [
    lost > 0 &&
      sentence(
        '{0} of {1} deliveries did not arrive; they still count, as the service must be sized to carry them.',
        ...[formatCount(lost), formatCount(expected)],
      ),
    lostConnections > 0 &&
      sentence(
        '{0} of {1} connections failed or were dropped; they still count, with the rates that the scenario plans.',
        ...[formatCount(lostConnections), formatCount(connections)],
      ),
    extra > 0 &&
      sentence(
        'Extra deliveries came twice, or went to connections that were joining or leaving, or that should not have got them. A service sends them too.',
      ),
    pushes > 0 &&
      sentence(
        'Outbound includes {0} msg/s that the hub sent on its own: {1}.',
        ...[formatFigure(pushes / seconds), formatNames(pushed.map(({ name }) => name))],
      ),
    moves !== undefined &&
      moves.done > 0 &&
      sentence(
        '{0} joins and leaves a second, and as many answers, are not counted: no table has them.',
        formatFigure(moves.done / seconds),
      ),
  ];
  return remarks.filter((remark) => remark !== false);
}

export interface MeasuredBytes {
  readonly received?: number;
  readonly payloadBytesOut?: number;
  /** Events that count with the calls that brought them. */
  readonly ofCalls?: number;
}

interface Measured extends MeasuredBytes {
  readonly entries?: readonly MeasuredBytes[];
  readonly calls?: readonly (MeasuredBytes & { readonly name: string; readonly entry?: string })[];
}

/** With measured sizes of stream items and events, which a scenario need not know. */
export function withMeasuredItems(
  entries: readonly ScenarioEntry[],
  measured: Measured,
): ScenarioEntry[] {
  const names = numberDuplicates(entries.map(({ name }) => name));
  return entries.map((entry, at) => {
    const { name, parameters } = entry;
    const useCase = findUseCase(name);
    if (useCase === undefined) return entry;
    const { streams, session } = hubRunOf(useCase, parameters);
    if (streams?.own !== undefined && streams.direction === 'download') {
      const bytes = meanItem(measured.entries?.[at] ?? measured);
      if (bytes === undefined) return entry;
      return { ...entry, parameters: { ...parameters, streamingItemSize: bytes } };
    }
    if (session === undefined || parameters['steps'] === undefined) return entry;
    const steps = sessionStepsOf(parameters);
    for (const call of listCalls(steps)) {
      const own = measured.calls?.find(
        (each) => each.name === call.name && (each.entry ?? names[at]) === names[at],
      );
      const bytes = own && meanItem(own);
      if (bytes === undefined || call.step.kind === 'call') continue;
      Object.assign(call.step, { [call.step.kind === 'on' ? 'eventBytes' : 'itemBytes']: bytes });
    }
    return { ...entry, parameters: { ...parameters, steps: JSON.stringify(steps) } };
  });
}

function meanItem({
  received = 0,
  payloadBytesOut = 0,
  ofCalls = 0,
}: MeasuredBytes): number | undefined {
  const measured = received - ofCalls;
  if (measured <= 0 || payloadBytesOut === 0) return undefined;
  return Math.max(1, Math.round(payloadBytesOut / measured));
}
