import type { ParameterSpec } from '../../usecases/parameterSpec';
import { useCases } from '../../usecases/registry';

/** Parameters of all use cases by name, each with the names of the use cases that have it. */
export const allParameters: ReadonlyMap<
  string,
  { readonly spec: ParameterSpec; readonly useCases: readonly string[] }
> = (() => {
  const found = new Map<string, { spec: ParameterSpec; useCases: string[] }>();
  for (const useCase of useCases) {
    for (const spec of useCase.parameters) {
      const known = found.get(spec.name);
      if (known === undefined) found.set(spec.name, { spec, useCases: [useCase.name] });
      else known.useCases.push(useCase.name);
    }
  }
  return found;
})();
