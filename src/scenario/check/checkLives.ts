import { leavingUs } from '../../base/leavingTime';
import { formatCount, formatDurationMs } from '../../base/units';
import { hubRunOf } from '../../usecases/useCase';
import { entryPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';
import { stepsOf } from '../steps';

/** With mean lives below this, connections do not send for more than a sixth of the time. */
const shortLifeMs = 5000;

/** Checks how connections come and go, and move in and out of groups. */
export function checkLives(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { lifetimeMs, connections } = scenario;
  const place = writtenPlace(reading, sources.config, 'lifetime');
  if (place !== undefined && lifetimeMs !== undefined && lifetimeMs < shortLifeMs) {
    const leavingMs = leavingUs / 1000;
    const share = Math.round((100 * leavingMs) / (lifetimeMs + leavingMs));
    const message = `Connections do not send in the last ${formatDurationMs(leavingMs)} before they are closed: with a mean life of ${formatDurationMs(lifetimeMs)} that is ${share} % of the time. Write a longer lifetime.`;
    reading.report('warning', 'short-life', place, message);
  }
  const moving = sources.entries.find(
    ({ useCase, entry }) => hubRunOf(useCase, entry.parameters).othersMove === true,
  );
  const last = stepsOf(scenario).at(-1)?.perEntry ?? [];
  if (moving === undefined || last.reduce((sum, count) => sum + count, 0) < connections) return;
  const message = `In the last step all ${formatCount(connections)} connections send, so nobody moves in and out of groups. Limit the steps with sendingSteps, or raise connections.`;
  reading.report('warning', 'nobody-moves', entryPlace(reading, sources, moving), message);
}
