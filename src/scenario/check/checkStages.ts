import { formatCount } from '../../base/units';
import { peakOf, silentRounds } from '../steps';
import type { ScenarioFile } from '../read/buildScenario';

export function checkStages(file: ScenarioFile): void {
  const { error, warning, config, scenario } = file;
  const { stages, connections, pacing, arrivals } = scenario;
  if (pacing === 'closed' && arrivals !== undefined && arrivals !== 'even') {
    const message =
      'With closed pacing a message leaves an interval after the one before, so arrivals has no effect. Write pacing: open, or an intervalDistribution.';
    warning('no-effect', config.at('arrivals'), message);
  }
  if (stages === undefined) return;
  const at = config.at('stages') ?? { offset: 0, length: 0 };
  if (silentRounds(scenario) !== undefined) {
    warning('no-effect', at, 'Nothing is sent here, so stages has no effect. Remove it.');
    return;
  }
  if (scenario.search !== undefined) {
    const message =
      'A search decides by itself how many send, so it cannot have stages. Remove one of them.';
    error('stages', at, message);
  }
  const peak = peakOf(stages);
  if (peak > connections) {
    const message = `The stages go up to ${formatCount(peak)} senders, and there are ${formatCount(connections)} connections. Lower them, or raise connections.`;
    error('stages', at, message);
  } else if (peak === 0) {
    error('nothing-sent', at, 'No stage has a sender, so nothing is sent or measured.');
  }
  for (const name of ['step', 'sendingSteps', 'singleStepDuration']) {
    if (!config.written.has(name)) continue;
    const message = `The stages are the only step of the run, so ${name} has no effect. Remove it.`;
    warning('no-effect', config.written.get(name)?.key, message);
  }
}
