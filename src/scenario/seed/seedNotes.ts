import { isPercentile } from '../../base/objectives/percentile';
import { formatCount } from '../../base/units';
import type { ScenarioFile } from '../read/buildScenario';
import { numberIn } from '../read/readSection';
import type { Scenario } from '../scenario';
import { silentRounds, stepCount } from '../steps';

/** Keys that do here what that tool's documentation promised: in its files only, where the difference shows with these values. */
export function reportSeedNotes(file: ScenarioFile): void {
  const { scenario, top, config } = file;
  if (!writtenForIt.some((name) => top.written.has(name))) return;
  for (const [name, note] of notes) {
    const place = config.at(name);
    if (place === undefined || place.override !== undefined) continue;
    if (stepKeys.has(name) && silentRounds(scenario) !== undefined) continue;
    const message = note(scenario, file);
    const isWrong = file
      .problems()
      .some(({ severity, offset }) => severity === 'error' && offset === place.offset);
    if (message !== undefined && !isWrong) file.info('seed-difference', place, message);
  }
}

const writtenForIt = ['mode', 'kind'];

/** Keys about senders; where nothing is sent they have no effect, which is said elsewhere. */
const stepKeys: ReadonlySet<string> = new Set(['baseSending', 'step', 'sendingSteps']);

type Note = (scenario: Scenario, file: ScenarioFile) => string | undefined;

/** Whole division, as the Azure SignalR benchmark counted its steps. */
const seedSteps = ({ connections, baseSending, step }: Scenario): number =>
  step === 0 ? 0 : Math.floor((connections - baseSending) / step) + 1;

const judgedNow =
  'The Azure SignalR benchmark never judged the last step; here every step is judged.';

const notes: readonly (readonly [key: string, note: Note])[] = [
  [
    'step',
    (scenario) => {
      const { connections, baseSending, step, sendingSteps } = scenario;
      if (step === 0)
        return 'The Azure SignalR benchmark failed at step: 0; here it is a single step.';
      const old = seedSteps(scenario);
      const reaches = sendingSteps === 0 && stepCount(scenario) > old;
      if (!reaches) return undefined;
      const reached = formatCount(baseSending + (old - 1) * step);
      return `The Azure SignalR benchmark stopped at ${reached} senders, since the steps do not divide what is left; here the last step reaches all ${formatCount(connections)}.`;
    },
  ],
  [
    'sendingSteps',
    (scenario) => {
      const { connections, sendingSteps } = scenario;
      if (sendingSteps === 0) return undefined;
      const steps = stepCount(scenario);
      if (steps > seedSteps(scenario) && scenario.step !== 0)
        return `The Azure SignalR benchmark ran ${formatCount(seedSteps(scenario))} steps here; ${formatCount(steps)} are needed until all ${formatCount(connections)} connections send.`;
      if (steps < sendingSteps)
        return `After ${formatCount(steps)} steps all connections send, so no further steps run.`;
      return steps === 1 ? judgedNow : undefined;
    },
  ],
  [
    'baseSending',
    (_scenario, { config }) =>
      numberIn(config, 'baseSending') === 0
        ? 'With baseSending: 0 the Azure SignalR benchmark neither sent nor ended in order; here the first step has no sender and the next ones are counted from there.'
        : undefined,
  ],
  [
    'arrivingRate',
    ({ arrivingBatchMode, arrivingRate, connections }) =>
      arrivingBatchMode === undefined && connections > arrivingRate
        ? `In the Azure SignalR benchmark this limited the connections that were opening at the same time; here ${formatCount(arrivingRate)} connections are opened per second. arrivingBatchMode: HighPress limits in that way.`
        : undefined,
  ],
  [
    'arrivingBatchMode',
    ({ arrivingBatchMode }) =>
      arrivingBatchMode === 'LowPress'
        ? 'The Azure SignalR benchmark gave up what was not connected 5 s after the last batch; here connectTimeout decides.'
        : undefined,
  ],
  [
    'arrivingBatchWait',
    ({ arrivingBatchMode }) =>
      arrivingBatchMode === 'LowPress'
        ? undefined
        : 'Only arrivingBatchMode: LowPress has batches, so this pause has no effect.',
  ],
  [
    'connectionFailPercentage',
    (_scenario, { slo }) => (slo.written.has('dropped') ? undefined : judgedNow),
  ],
  [
    'latencyPercentage',
    (_scenario, { slo }) =>
      [...slo.written.keys()].some(isPercentile)
        ? undefined
        : `${judgedNow} Lost messages count as late.`,
  ],
];
