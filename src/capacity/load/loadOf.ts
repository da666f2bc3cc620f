/** The load of a scenario: messages and bytes per second. */
import { say } from '../../base/sentence';
import { formatCount } from '../../base/units';
import { azureServiceOf, isAzure } from '../../base/serviceTraits';
import type { Scenario, ScenarioEntry } from '../../scenario/scenario';
import { peakSenders, stepsOf, type StepSenders } from '../../scenario/steps';
import { serverConnectionsOf } from '../../scenario/check/checkService';
import { payloadOf, hubRunOf, type Traffic } from '../../usecases/useCase';
import { weightedMean } from '../../usecases/payloadSizes';
import { findUseCase, streamsOf } from '../../usecases/registry';
import { listCalls, joinsByCalls, sessionStepsOf, sizesOfStep } from '../../usecases/sessionSteps';
import type { EstimateInput, OrProblem } from '../model';
import { formatNames } from '../capacityWords';
import { guides } from '../tables/publishedLimits';
import {
  messageSizeRefusal,
  callWireSize,
  pushWireSize,
  wireSizes,
  type Spoken,
} from './wireSizes';
import { idleTraffic, messageRates, sizesOf, type MessageRates } from './serviceLoad';
import {
  outboundOnlyNote,
  largestGroupSize,
  sessionAssumptions,
  sessionTraffic,
  eventsWithoutRate,
} from './sessionLoad';

/** Of the last step, which has most senders. `ofAnySize`: also messages that no service takes. */
export function loadOf(
  scenario: Scenario,
  ofAnySize = false,
): OrProblem<{ readonly input: EstimateInput }> {
  if (scenario.kind === 'resultparser') {
    const problem =
      'There is nothing to estimate: kind: resultparser only reads the counter file of an old run.';
    return { problem };
  }
  const last = stepsOf(scenario).at(-1);
  if (last === undefined) return { problem: 'The scenario has no step to estimate.' };
  const found = entryTraffic(scenario, last, { ofAnySize });
  if ('problem' in found) return found;
  const product = azureServiceOf(scenario.service);
  const traffic = [
    ...found.sending.map((sending) => sending.traffic),
    ...pushedTraffic(scenario, last),
  ];
  const pushed = new Set(scenario.pushes?.map(({ name }) => name));
  const unknown = scenario.entries
    .flatMap(({ parameters }) => eventsWithoutRate(parameters))
    .filter((event) => !pushed.has(event));
  return {
    input: {
      product,
      connections: scenario.connections,
      useCases: traffic.length === 0 ? [idleTraffic(product)] : traffic,
      ...(scenario.connectionType === 'AspNet' ? { stack: 'aspnet' as const } : {}),
      ...applicationSettings(scenario),
      assumptions: [
        ...(unknown.length === 0
          ? []
          : [
              `Not in this estimate: callbacks that are only counted (${formatNames(unknown)}). Write in their steps how often they come, perSession, or go by the recommendation after a run, which counts them.`,
            ]),
        ...(unknown.length === 0 || pushed.size > 0 ? pushAssumptions(scenario) : []),
        ...assumptionsOf(scenario),
      ],
    },
  };
}

/** Use cases of the user's hub, which may send on its own. */
const ownUseCases: ReadonlySet<string> = new Set(['connectOnly', 'invoke', 'session']);

function pushAssumptions({ entries, pushes, target }: Scenario): string[] {
  if (pushes !== undefined) return [outboundOnlyNote];
  // The embedded hub sends nothing on its own.
  const isKnown = target === undefined || target.kind === 'local';
  if (isKnown || !entries.some(({ name }) => ownUseCases.has(name))) return [];
  return [
    'What the hub sends on its own is not in this estimate: write it as config.pushes, or go by the recommendation after a run, which counts it.',
  ];
}

function pushedTraffic(scenario: Scenario, step: StepSenders): Traffic[] {
  const { connections, pushes = [], service } = scenario;
  const receivers = {
    everyone: connections,
    group: pushes.some(({ to }) => to === 'group') ? largestOfGroups(scenario, step) : 1,
    client: 1,
  };
  return pushes.map((push) => ({
    kind: guides[azureServiceOf(service)].plainest,
    ...{ senders: 1, intervalS: 1 / push.perSecond, messageBytes: push.bytes },
    ...{ pushedTo: receivers[push.to], inEach: 0, leaving: [pushWireSize(scenario, push)] },
  }));
}

const largestOfGroups = ({ connections, entries }: Scenario, step: StepSenders): number =>
  Math.max(
    ...entries.map((entry, at) => {
      const joins = joinsByCalls(sessionStepsOf(entry.parameters));
      const joining = sharing(entries, entry, step) ?? step.perEntry[at] ?? 0;
      return largestGroupSize(entry.parameters, joins ? joining : connections);
    }),
  );

type Application = Pick<EstimateInput, 'serverless' | 'serverConnections' | 'freeTier'>;

export function applicationSettings(scenario: Scenario): Application {
  const serverConnections = serverConnectionsOf(scenario);
  return {
    ...(scenario.upstream !== undefined ? { serverless: true } : {}),
    ...(serverConnections === undefined ? {} : { serverConnections }),
    ...(scenario.sku === 'free' && { freeTier: true }),
  };
}

/** What the published tables do not know. */
export function assumptionsOf(
  scenario: Pick<Scenario, 'service' | 'transport' | 'entries' | 'stages' | 'arrivals'>,
): string[] {
  const { entries, service, transport, stages, arrivals } = scenario;
  const sentences = [
    !isAzure(service) && 'A plain hub has no Units: compared with Azure SignalR in default mode.',
    transport !== 'Websockets' &&
      `The tables hold for WebSocket clients; ${transport} is slower and has no table.`,
    entries.some(({ parameters }) => differInSize(parameters)) &&
      'Payloads differ in size: each size counts, and is billed, by its share.',
    entries.some((entry) => streamsOf(entry) !== undefined) &&
      'The guides have no table for streams: each item counts as an echo.',
    stages !== undefined &&
      `The number of senders changes in stages: its peak counts, ${formatCount(peakSenders(stages))} senders.`,
    arrivals === 'poisson' &&
      'Messages are due at random: their mean rate counts, and some moments have more.',
    ...entries.map(({ name }) => findUseCase(name)?.assumption ?? false),
    ...entries.flatMap(({ parameters }) => sessionAssumptions(parameters)),
  ];
  return [...new Set(sentences.filter((sentence) => sentence !== false))];
}

/** Senders of all sessions that join these groups; undefined where it shares none. */
function sharing(
  entries: readonly ScenarioEntry[],
  { parameters: { sharedGroups: name } }: ScenarioEntry,
  { perEntry }: StepSenders,
): number | undefined {
  if (name === undefined) return undefined;
  return entries.reduce((sum, { parameters }, position) => {
    const joins = parameters['sharedGroups'] === name && joinsByCalls(sessionStepsOf(parameters));
    return sum + (joins ? (perEntry[position] ?? 0) : 0);
  }, 0);
}

const differInSize = (parameters: ScenarioEntry['parameters']): boolean =>
  parameters['messageSizes'] !== undefined ||
  listCalls(sessionStepsOf(parameters)).some(({ step }) => sizesOfStep(step).length > 1);

type EntryTraffic = OrProblem<{ readonly sending: readonly SendingEntry[] }>;

export interface SendingEntry {
  readonly entry: ScenarioEntry;
  readonly position: number;
  readonly traffic: Traffic;
  /** The calls of a session, by their names in results. */
  readonly calls?: readonly string[];
}

const noTable = ({ name }: { readonly name: string }, useCase: { readonly name: string }) => ({
  problem: `The ${name} guide has no table for ${useCase.name}.`,
});

/** One per entry that sends; several for a session. `measures`: also what only a run can count. */
export function entryTraffic(
  scenario: Spoken & Pick<Scenario, 'connections' | 'transport'>,
  step: StepSenders,
  { measures = false, ofAnySize = false } = {},
): EntryTraffic {
  const { entries, service } = scenario;
  const guide = guides[azureServiceOf(service)];
  const sending: SendingEntry[] = [];
  for (const [position, entry] of entries.entries()) {
    const useCase = findUseCase(entry.name);
    if (useCase === undefined) return { problem: `There is no use case ${entry.name}.` };
    const senders = step.perEntry[position] ?? 0;
    if (senders === 0) continue;
    const refused = ofAnySize ? undefined : messageSizeRefusal(scenario, entry);
    if (refused !== undefined) return { problem: say(refused) };
    const { session } = hubRunOf(useCase, entry.parameters);
    if (session?.replays && entry.parameters['steps'] === undefined)
      return {
        problem:
          'What a replay sends stands in its recording: run it, and the Units come from what was measured.',
      };
    for (const one of sendingOf(scenario, step, position)) {
      if (one.traffic.senders === 0 && !measures) continue;
      if (!guide.kinds.includes(one.traffic.kind)) return noTable(guide, useCase);
      sending.push(one);
    }
  }
  return { sending };
}

function sendingOf(
  scenario: Spoken & Pick<Scenario, 'connections'>,
  step: StepSenders,
  position: number,
): SendingEntry[] {
  const { connections, entries, service } = scenario;
  const entry = entries[position]!;
  const useCase = findUseCase(entry.name);
  const load = { connections, senders: step.perEntry[position] ?? 0 };
  if (useCase === undefined || load.senders === 0) return [];
  if (hubRunOf(useCase, entry.parameters).session !== undefined)
    return sessionTraffic(entry.parameters, load, sharing(entries, entry, step)).map(
      ({ traffic, calls, ownCalls }) => {
        const leaving = sizesOf(traffic).map((size, at) =>
          callWireSize(scenario, ownCalls[at]!, size),
        );
        return { entry, position, traffic: { ...traffic, leaving }, calls };
      },
    );
  const traffic = useCase.traffic(entry.parameters, load, service);
  if (traffic === undefined) return [];
  const { sizes, meanBytes } = payloadOf(entry.parameters);
  // A limit for each message is lost in the mean.
  const several = sizes.length > 1 && { messageSizes: sizes };
  const sent = { ...traffic, messageBytes: meanBytes, ...several };
  const leaving = wireSizes(scenario, entry, sizesOf(sent));
  return [{ entry, position, traffic: { ...sent, leaving } }];
}

/** Also of entries without a table; `bytes` are payloads, in and out. */
export function stepRates(scenario: Scenario, step: StepSenders): MessageRates & { bytes: number } {
  let [inMessages, outMessages, bytes] = [0, 0, 0];
  const all = scenario.entries.flatMap((_entry, at) => sendingOf(scenario, step, at));
  for (const { traffic } of all) {
    const rates = messageRates(traffic, scenario.connections);
    inMessages += rates.inMessages;
    outMessages += rates.outMessages;
    bytes +=
      (rates.inMessages + rates.outMessages) * weightedMean(sizesOf(traffic), (each) => each);
  }
  return { inMessages, outMessages, bytes };
}
