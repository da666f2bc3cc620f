import { idMethods, type ContractMethods } from '../base/benchContract';
import type { HubMethod } from './hubMethod';
import { useCases } from './registry';

/** Every method that one of the use cases needs, and those that tell ids. */
export function hubMethods(): HubMethod[] {
  const ids = (['callback', 'result'] as const).map((by): HubMethod => ({
    name: idMethods[by],
    does: { kind: 'id', by },
  }));
  const all = [...useCases.flatMap((useCase) => useCase.hubMethods ?? []), ...ids];
  return [...new Map(all.map((method) => [method.name, method])).values()];
}

/** Their names in both contracts. */
export function contractMethods(): ContractMethods {
  const all = hubMethods();
  return {
    recordLatency: all.map(({ name }) => name),
    measure: all.flatMap(({ measureName }) => measureName ?? []),
  };
}
