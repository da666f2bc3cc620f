import { membershipMethods } from '../base/benchContract';
import { ExpectedError } from '../base/expectedError';
import type { Plan } from '../plan/plan';
import { needsContract } from '../scenario/check/measureProblem';
import type { HubRun } from '../usecases/useCase';

/** The hub has none of the methods that a run would call. */
export class MissingMethods extends ExpectedError {
  /** @param url of the hub, as it may be shown */
  constructor(
    readonly methods: readonly string[],
    readonly url: string,
  ) {
    const named = methods.length === 1 ? `method ${methods[0]!}` : `methods ${methods.join(', ')}`;
    super(
      'hub-methods',
      `The hub has no ${named}. \`signalr-bench doctor --target ${url}\` prints the C# code that adds what it lacks. To call a method of your own instead, use the use case invoke: \`signalr-bench init --use-case invoke\` writes a file to begin with.`,
    );
    this.name = 'MissingMethods';
  }
}

/** Bench methods of a use case, in both dialects. */
interface ContractMethods {
  readonly recordLatency: readonly string[];
  /** Undefined where that dialect has no such use case. */
  readonly measure: readonly string[] | undefined;
}

function methodsOf({
  message,
  streams,
  preparation,
  joinMethod,
  othersMove,
}: HubRun): ContractMethods {
  const beside = [
    ...(preparation === 'joinGroups' ? [joinMethod ?? membershipMethods.join] : []),
    ...(othersMove === true ? [membershipMethods.leave] : []),
  ];
  const sends = message?.method ?? streams?.method;
  const measureSends = message?.measureMethod;
  return {
    recordLatency: [...(sends === undefined ? [] : [sends]), ...beside],
    measure: measureSends === undefined ? undefined : [measureSends, ...beside],
  };
}

/** What the use cases of a plan call of the bench contracts. */
const contractsOf = (plan: Plan): ContractMethods[] =>
  plan.entries
    .map(({ run }) => run)
    .filter(needsContract)
    .map(methodsOf);

/** Bench methods that a hub may be asked about before a run, in both dialects. */
export function methodsToAskFor(plan: Plan): string[] {
  const all = contractsOf(plan).flatMap(({ recordLatency, measure = [] }) => [
    ...recordLatency,
    ...measure,
  ]);
  return [...new Set(all)];
}

/**
 * Of the methods that a hub lacks, those without which the run comes to nothing in either dialect, by the
 * names that people know from the first; empty when it has what one of them needs.
 */
export function missingOf(plan: Plan, lacks: readonly string[]): string[] {
  const missing = contractsOf(plan).flatMap(({ recordLatency, measure }) => {
    const lacking = recordLatency.filter((name) => lacks.includes(name));
    const measures = measure?.every((name) => !lacks.includes(name)) ?? false;
    return measures ? [] : lacking;
  });
  return [...new Set(missing)];
}
