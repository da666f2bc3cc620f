import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { estimate } from '../../../src/capacity/estimate';
import type { Estimate, EstimateInput, EstimateOptions } from '../../../src/capacity/model';
import type { Traffic, TrafficKind } from '../../../src/usecases/useCase';

/** Input of a vector, as written in the fixture. */
type VectorInput = Pick<EstimateInput, 'product' | 'connections' | 'stack'> &
  EstimateOptions & {
    readonly use_cases: readonly (Readonly<Record<'senders', number>> &
      Readonly<
        Partial<
          Record<'interval_s' | 'message_bytes' | 'group_members' | 'connections_per_user', number>
        >
      > & { readonly kind: TrafficKind })[];
  };
type Fields = Readonly<Record<string, unknown>>;
type Vector = Readonly<{
  id: string;
  title: string;
  input: VectorInput;
  by_hand?: Fields;
  expected: Fields;
}>;

/** The published test vectors. */
export function readVectors(): readonly Vector[] {
  const text = readFileSync('test/fixtures/capacity/vectors.yaml', 'utf8');
  return (parse(text) as { vectors: Vector[] }).vectors;
}

/** The input in our names, with the fixture's defaults filled in. */
function inputOf(input: VectorInput): EstimateInput {
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
