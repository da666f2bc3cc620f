import { findUseCase } from '../../usecases/registry';
import { isRest } from '../../usecases/useCase';
import type { Scenario } from '../scenario';

/** Whether a scenario for Azure SignalR Service does without an app server: its hub is in serverless mode. */
export const isServerless = ({
  entries,
  upstream,
}: Pick<Scenario, 'entries' | 'upstream'>): boolean =>
  upstream !== undefined ||
  entries.every(({ name }) => {
    const useCase = findUseCase(name);
    return useCase !== undefined && isRest(useCase);
  });
