import { findUseCase } from '../usecases/registry';
import { hubRunOf, type HubRun } from '../usecases/useCase';
import type { PlanEntry } from './plan';

/** How an entry runs over hub connections; an unknown one is a defect of whoever made the plan. */
export function entryRun({ useCase, parameters }: PlanEntry): HubRun {
  const known = findUseCase(useCase);
  if (known === undefined) throw new Error(`there is no use case ${useCase}`);
  return hubRunOf(known, parameters);
}
