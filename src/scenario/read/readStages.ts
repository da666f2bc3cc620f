/** `config.stages`: how many send in the course of the only step. */
import { isMap, isSeq, type Node } from 'yaml';
import { formatCount } from '../../base/units';
import { maximumStages, stageKeys } from '../keys/configKeys';
import type { Scenario, StagesSpec } from '../scenario';
import { rateOf } from '../searched';
import { peakOf, stagesMs } from '../steps';
import type { Reading } from '../text/scenarioReading';
import { numberIn, sectionOf, type Section } from './readSection';

/** The scenario with the one step that its stages are; the same where there are none. */
export function withStages(reading: Reading, config: Section, scenario: Scenario): Scenario {
  const written = config.written.get('stages');
  const node = reading.follow(written?.value);
  if (written === undefined || !isSeq(node)) {
    if (written !== undefined) {
      const message = 'stages must be a list, such as "- { to: 500, over: 30s, hold: 1m }".';
      reading.error('wrong-type', written.place, message);
    }
    return scenario;
  }
  if (node.items.length > maximumStages) {
    const message = `stages has at most ${formatCount(maximumStages)} entries; the others are not read.`;
    reading.error('above-bounds', written.key, message);
  }
  const perSender = ratePerSender(scenario);
  const stages = (node.items as Node[])
    .slice(0, maximumStages)
    .flatMap((item, at) => readStage(reading, item, at, perSender) ?? []);
  const from = config.written.has('baseSending') ? scenario.baseSending : 0;
  const spec: StagesSpec = { from, stages };
  const lengthMs = stagesMs(stages);
  if (lengthMs === 0) {
    const message = 'The stages take no time. Write over or hold into one of them.';
    reading.error('empty-value', written.key, message);
    return scenario;
  }
  return {
    ...scenario,
    ...{ stages: spec, baseSending: Math.min(scenario.connections, peakOf(spec)) },
    ...{ step: 0, sendingSteps: 0, singleStepDurationMs: lengthMs },
    // Nobody sends before the first stage, so there is nothing to warm up.
    ...(!config.written.has('warmup') && {
      warmupMs: Math.min(scenario.warmupMs, from > 0 ? lengthMs : 0),
    }),
  };
}

/** Of all entries together, where everybody sends; 0 where nothing is sent at intervals. */
function ratePerSender(scenario: Scenario): number {
  const { connections } = scenario;
  const everybody = { ...scenario, baseSending: connections, step: 0, sendingSteps: 0 };
  return rateOf(everybody) / connections;
}

function readStage(reading: Reading, item: Node, index: number, perSender: number) {
  const map = reading.follow(item);
  if (!isMap(map)) {
    const message = 'Each stage is a map, such as { to: 500, over: 30s, hold: 1m }.';
    reading.error('wrong-type', item, message);
    return undefined;
  }
  const stage = sectionOf(reading, `config.stages.${index}`, stageKeys, map);
  const [to, rate] = [numberIn(stage, 'to'), numberIn(stage, 'rate')];
  if ((to === undefined) === (rate === undefined)) {
    // What is written and wrong has its own problem.
    if (to !== undefined || !(stage.written.has('to') || stage.written.has('rate'))) {
      const message =
        to === undefined
          ? 'This stage has no goal. Write the senders it ends with as to, or messages per second as rate.'
          : 'This stage has both to and rate. Remove one of them.';
      reading.error('stage', item, message);
    }
    return undefined;
  }
  return {
    to: to ?? (perSender > 0 ? Math.round(rate! / perSender) : 0),
    overMs: numberIn(stage, 'over') ?? 0,
    holdMs: numberIn(stage, 'hold') ?? 0,
  };
}
