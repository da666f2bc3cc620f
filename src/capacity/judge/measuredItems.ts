import type { ScenarioEntry } from '../../scenario/scenario';
import { hubRunOf } from '../../usecases/useCase';
import { findUseCase } from '../../usecases/registry';
import { callsOf, numberedNames, sessionStepsOf } from '../../usecases/sessionSteps';

/** Absent in results of earlier versions. */
export interface MeasuredBytes {
  readonly received?: number;
  /** Payloads of all that was received. */
  readonly payloadBytesOut?: number;
}

interface Measured extends MeasuredBytes {
  readonly entries?: readonly MeasuredBytes[];
  readonly calls?: readonly (MeasuredBytes & { readonly name: string; readonly entry?: string })[];
}

/** The entries with the size of stream items as it was measured: a scenario need not know what a hub makes. */
export function withMeasuredItems(
  entries: readonly ScenarioEntry[],
  measured: Measured,
): ScenarioEntry[] {
  const names = numberedNames(entries.map(({ name }) => name));
  return entries.map((entry, at) => {
    const { name, parameters } = entry;
    const useCase = findUseCase(name);
    if (useCase === undefined) return entry;
    const { streams, session } = hubRunOf(useCase, parameters);
    if (streams?.own !== undefined && streams.direction === 'download') {
      const bytes = meanItem(measured.entries?.[at] ?? measured);
      if (bytes === undefined) return entry;
      return { ...entry, parameters: { ...parameters, streamingItemSize: bytes } };
    }
    if (session === undefined || parameters['steps'] === undefined) return entry;
    const steps = sessionStepsOf(parameters);
    for (const call of callsOf(steps)) {
      const own = measured.calls?.find(
        (each) => each.name === call.name && (each.entry ?? names[at]) === names[at],
      );
      if (call.step.kind !== 'stream' || own === undefined) continue;
      Object.assign(call.step, { itemBytes: meanItem(own) ?? call.step.itemBytes });
    }
    return { ...entry, parameters: { ...parameters, steps: JSON.stringify(steps) } };
  });
}

function meanItem({ received = 0, payloadBytesOut = 0 }: MeasuredBytes): number | undefined {
  if (received === 0 || payloadBytesOut === 0) return undefined;
  return Math.max(1, Math.round(payloadBytesOut / received));
}
