import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { estimate } from '../../../src/capacity/estimate';
import type { Edition, Estimate, EstimateInput } from '../../../src/capacity/model';
import type { Traffic, TrafficKind } from '../../../src/usecases/useCase';

/** Input of a vector, as written in the fixture. */
export interface VectorInput {
  readonly product: EstimateInput['product'];
  readonly edition?: Edition;
  readonly connections: number;
  readonly headroom?: number;
  readonly stack?: 'aspnetcore' | 'aspnet';
  readonly use_cases: readonly {
    readonly kind: TrafficKind;
    readonly senders: number;
    readonly interval_s?: number;
    readonly message_bytes?: number;
    readonly group_members?: number;
    readonly connections_per_user?: number;
  }[];
}

export interface Vector {
  readonly id: string;
  readonly title: string;
  readonly input: VectorInput;
  readonly by_hand?: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
}

/** The published test vectors. */
export function readVectors(): readonly Vector[] {
  const text = readFileSync('test/fixtures/capacity/vectors.yaml', 'utf8');
  return (parse(text) as { vectors: Vector[] }).vectors;
}

/** The input in our names, with the fixture's defaults filled in. */
export function inputOf(input: VectorInput): EstimateInput {
  return {
    product: input.product,
    connections: input.connections,
    stack: input.stack,
    useCases: input.use_cases.map((useCase): Traffic => ({
      kind: useCase.kind,
      senders: useCase.senders,
      intervalS: useCase.interval_s ?? 1,
      messageBytes: useCase.message_bytes ?? 2048,
      groupMembers: useCase.group_members,
      connectionsPerUser: useCase.connections_per_user,
    })),
  };
}

/** Runs the estimate of a vector; edition and headroom are part of its input there. */
export function estimateVector(input: VectorInput): Estimate {
  return estimate(inputOf(input), {
    edition: input.edition,
    headroom: input.headroom,
  });
}
