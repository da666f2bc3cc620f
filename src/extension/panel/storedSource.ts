import path from 'node:path';
import type { Event } from '../../base/event';
import { readSnapshots } from '../../results/readResult';
import type { Result } from '../../results/result';
import type { PanelSource } from '../panelSource';
import { spectraOf } from './spectra';
import { toPanelResult } from './toPanelResult';

/** What can be done with a stored run. */
export interface StoredActions {
  runAgain(): void;
  openScenario(): void;
  copySummary(result: Result): void;
}

/** A source whose run is over never fires. */
const never: Event<never> = () => ({ dispose: () => undefined });

/**
 * A stored result as the panel's source, with the samples beside it.
 *
 * @param file path of its `result.json`
 */
export async function storedSource(
  file: string,
  result: Result,
  actions: StoredActions,
): Promise<PanelSource> {
  const { id, startedAt, scenario, estimate, estimateProblem, target } = result;
  return {
    run: {
      id,
      title: titleOf(id),
      targetUrl: target.url,
      startedAt,
      scenario,
      estimate,
      ...(estimateProblem !== undefined && { estimateProblem }),
    },
    snapshots: await readSnapshots(path.dirname(file)),
    result: toPanelResult(result),
    spectra: spectraOf(result),
    interrupted: false,
    onSnapshot: never,
    onFinished: never,
    stop: () => undefined,
    runAgain: () => actions.runAgain(),
    openScenario: () => actions.openScenario(),
    copySummary: () => actions.copySummary(result),
  };
}

/** `chat-room` of `2026-11-21T14-02-11-chat-room`, which is how result folders are named. */
export function titleOf(id: string): string {
  return id.replace(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/, '') || id;
}
