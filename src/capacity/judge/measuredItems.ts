import type { ScenarioEntry } from '../../scenario/scenario';
import { hubRunOf } from '../../usecases/useCase';
import { findUseCase } from '../../usecases/registry';
import { callsOf, numberedNames, sessionStepsOf } from '../../usecases/sessionSteps';

/** Absent in results of earlier versions. */
export interface MeasuredBytes {
  readonly received?: number;
  /** Payloads of all that was received. */
  readonly payloadBytesOut?: number;
  /** Events whose payloads count with calls. */
  readonly ofCalls?: number;
}

interface Measured extends MeasuredBytes {
  readonly entries?: readonly MeasuredBytes[];
  readonly calls?: readonly (MeasuredBytes & { readonly name: string; readonly entry?: string })[];
}

/** The entries with the sizes of stream items and events as they were measured: a scenario need not know what a hub makes. */
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
      const bytes = own && meanItem(own);
      if (bytes === undefined || call.step.kind === 'call') continue;
      Object.assign(call.step, { [call.step.kind === 'on' ? 'eventBytes' : 'itemBytes']: bytes });
    }
    return { ...entry, parameters: { ...parameters, steps: JSON.stringify(steps) } };
  });
}

function meanItem({
  received = 0,
  payloadBytesOut = 0,
  ofCalls = 0,
}: MeasuredBytes): number | undefined {
  const measured = received - ofCalls;
  if (measured <= 0 || payloadBytesOut === 0) return undefined;
  return Math.max(1, Math.round(payloadBytesOut / measured));
}
