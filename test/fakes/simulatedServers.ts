import type { Random } from '../../src/base/random';
import type { StepOutcome } from '../../src/engine/lead/stepSource';

/** A server as a search sees it: it holds a value or does not, and may change by what it has borne. */
export interface SimulatedServer {
  /** What comes of a step with that value. */
  step(value: number): StepOutcome;
  /** The value up to which it holds now, without noise. */
  readonly limit: number;
}

/** Normally distributed with mean 0 and deviation 1 (Box and Muller). */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/** What is more than the limit waits and never comes in time. */
export const hardLimit = (limit: number): SimulatedServer => ({
  limit,
  step: (value) => (value <= limit ? 'held' : 'missed'),
});

/**
 * One queue: latency grows as 1 / (1 − load), and the objective is missed a little below the capacity. Measured
 * percentiles differ from step to step by `noise`, the deviation of their logarithm.
 */
export function softKnee(limit: number, noise: number, random: Random): SimulatedServer {
  const baseMs = 2;
  const limitMs = 1000;
  // The load at which baseMs / (1 − load) is the objective.
  const capacity = limit / (1 - baseMs / limitMs);
  return {
    limit,
    step(value) {
      const load = value / capacity;
      const meanMs = load < 1 ? baseMs / (1 - load) : Infinity;
      return meanMs * Math.exp(noise * normal(random)) <= limitMs ? 'held' : 'missed';
    },
  };
}

/** The limit itself moves from step to step: other work on the machine takes a share. */
export const noisy = (limit: number, noise: number, random: Random): SimulatedServer => ({
  limit,
  step: (value) => (value <= limit * (1 + noise * normal(random)) ? 'held' : 'missed'),
});

/** Each step takes a share of what is left. */
export function degrading(limit: number, share: number): SimulatedServer {
  const server = {
    limit,
    step(value: number): StepOutcome {
      const outcome = value <= server.limit ? 'held' : 'missed';
      server.limit *= 1 - share;
      return outcome;
    },
  };
  return server;
}

/** After a step that was too much it bears only a share, for a step or with that chance until one has held. */
export function recovering(
  limit: number,
  share: number,
  chance: number,
  random: Random,
): SimulatedServer {
  let hurt = false;
  return {
    limit,
    step(value) {
      const held = value <= (hurt ? limit * share : limit);
      hurt = !held && (!hurt || random.next() < chance);
      return held ? 'held' : 'missed';
    },
  };
}
