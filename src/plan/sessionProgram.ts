import {
  durationsOf,
  isCounted,
  isListenOnly,
  type Durations,
  type IfStep,
  type SessionStep,
} from '../usecases/sessionSteps';

/** One of several durations, drawn each time. */
export interface Pause {
  readonly us: readonly number[];
  readonly leastUs: number;
}

/** Jump targets are indexes of instructions. */
export type Instruction =
  | { readonly do: 'call'; readonly call: number }
  | ({ readonly do: 'wait' } & Pause)
  | { readonly do: 'rounds'; readonly loop: number; readonly end: number }
  | {
      readonly do: 'round';
      readonly loop: number;
      readonly times: number;
      readonly every: Pause;
      readonly begin: number;
    }
  /** Jumps to the target of the first bound above a random number; bounds rise to 1. */
  | { readonly do: 'choose'; readonly bounds: readonly number[]; readonly to: readonly number[] }
  | ({ readonly do: 'test'; readonly otherwise: number } & Pick<IfStep, 'name' | 'equals'>)
  | { readonly do: 'jump'; readonly to: number };

export interface SessionProgram {
  readonly instructions: readonly Instruction[];
  readonly loops: number;
  /** Pauses are random, so a session may outlast its interval. */
  readonly drawsPauses: boolean;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Flattens the steps of a session; calls are numbered as by {@link import('../usecases/sessionSteps').listCalls}. */
export function sessionProgram(steps: readonly SessionStep[]): SessionProgram {
  const instructions: Instruction[] = [];
  let [call, loops] = [0, 0];
  const add = (instruction: Instruction): number => instructions.push(instruction) - 1;
  const addAll = (below: readonly SessionStep[]): void => {
    for (const step of below) addStep(step);
  };
  const addStep = (step: SessionStep): void => {
    if (isCounted(step)) {
      if (!isListenOnly(step)) add({ do: 'call', call });
      call += 1;
      return;
    }
    switch (step.kind) {
      case 'wait':
        add({ do: 'wait', ...pauseOf(step.ms) });
        return;
      case 'repeat': {
        const loop = loops++;
        const rounds: Mutable<Instruction & { do: 'rounds' }> = { do: 'rounds', loop, end: 0 };
        const begin = add(rounds) + 1;
        addAll(step.steps);
        const every = pauseOf(step.everyMs);
        rounds.end = add({ do: 'round', loop, times: step.times, every, begin });
        return;
      }
      case 'choose': {
        const weights = step.ways.reduce((sum, { weight }) => sum + weight, 0);
        let sum = 0;
        const bounds = step.ways.map(({ weight }) => (sum += weight) / weights);
        bounds[bounds.length - 1] = Infinity;
        const to: number[] = [];
        add({ do: 'choose', bounds, to });
        const ends = step.ways.map((way) => {
          to.push(instructions.length);
          addAll(way.steps);
          const end: Mutable<Instruction & { do: 'jump' }> = { do: 'jump', to: 0 };
          add(end);
          return end;
        });
        for (const end of ends) end.to = instructions.length;
        return;
      }
      case 'if': {
        const { name, equals } = step;
        const test: Mutable<Instruction & { do: 'test' }> = {
          ...{ do: 'test', name, otherwise: 0 },
          ...(equals !== undefined && { equals }),
        };
        add(test);
        addAll(step.steps);
        const end: Mutable<Instruction & { do: 'jump' }> = { do: 'jump', to: 0 };
        add(end);
        test.otherwise = instructions.length;
        addAll(step.else);
        end.to = instructions.length;
      }
    }
  };
  addAll(steps);
  return { instructions, loops, drawsPauses: instructions.some(isDrawn) };
}

function pauseOf(durations: Durations): Pause {
  const us = durationsOf(durations).map((ms) => ms * 1000);
  return { us, leastUs: Math.min(...us) };
}

function isDrawn(instruction: Instruction): boolean {
  if (instruction.do === 'wait') return instruction.us.length > 1;
  return instruction.do === 'round' && instruction.every.us.length > 1;
}
