import type { ScenarioEntry } from '../scenario/scenario';
import { findUseCase } from '../usecases/registry';
import type { Parameters } from '../usecases/parameterSpec';
import { payloadOf } from '../usecases/payloadSizes';
import { hubRunOf } from '../usecases/useCase';
import type { PlanEntry, PlanGroups } from './plan';

/** What the parameters of a use case mean for a run; an unknown use case is a defect of whoever asks. */
export function planEntryOf({ name, parameters }: ScenarioEntry): PlanEntry {
  const useCase = findUseCase(name);
  if (useCase === undefined) throw new Error(`there is no use case ${name}`);
  const { sendingInterval = 0, joinLeaveInterval, payload: content, payloadFile } = parameters;
  const run = hubRunOf(useCase, parameters);
  return {
    useCase: name,
    run,
    intervalMs: Number(sendingInterval),
    ...(joinLeaveInterval !== undefined && { moveIntervalMs: Number(joinLeaveInterval) }),
    ...(run.audience === 'group' && { groups: groupsOf(parameters) }),
    targets: parameters['targets'] === 'random' ? 'random' : 'fixed',
    payload: {
      sizes: payloadOf(parameters).sizes,
      content: content === 'binary' || content === 'text' ? content : 'random',
      ...(typeof payloadFile === 'string' && { file: payloadFile }),
    },
  };
}

function groupsOf({ groupCount, groupsPerConnection = 1, sendersPer }: Parameters): PlanGroups {
  const count = Number(groupCount);
  const perConnection = Math.min(Number(groupsPerConnection), count);
  return { count, perConnection, dealsSenders: sendersPer === 'group' };
}
