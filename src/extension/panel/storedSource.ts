import { targetWords, withTexts } from '../../scenario/target/targetKinds';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import type { PanelRun } from '../../protocol/panel';
import { readResult, readSnapshots, type InterruptedRun } from '../../results/readResult';
import { redactTarget } from '../../results/redact';
import type { Result } from '../../results/result';
import { samplesFile } from '../../results/resultFolder';
import { parseScenario } from '../../scenario/parseScenario';
import { folderAt, fromName } from '../results/resultEntry';
import { spectraOf, toPanelResult, type PanelOrders, type PanelSource } from './panelSession';

const never = (): { dispose(): void } => ({ dispose: () => undefined });

/**
 * A stored run, finished or interrupted, as a panel shows it.
 *
 * @param location result folder or its `result.json`
 * @throws ExpectedError as {@link readResult}, and `result-damaged` when an interrupted run has no
 * scenario that can be read
 */
export async function storedSource(location: string, orders: PanelOrders): Promise<PanelSource> {
  const folder = folderAt(location);
  const stored = await readResult(location);
  const snapshots = await readSnapshots(folder);
  const result = stored.kind === 'result' ? stored.result : undefined;
  return {
    run:
      stored.kind === 'result'
        ? finishedRun(stored.result)
        : interruptedRun(folder, stored, snapshots),
    snapshots,
    result: result && toPanelResult(result),
    spectra: result ? spectraOf(result) : [],
    interrupted: result === undefined,
    onSnapshot: never,
    onFinished: never,
    orders,
  };
}

function finishedRun(result: Result): PanelRun {
  const { id, startedAt, scenario, estimate, estimateProblem, target } = result;
  return {
    id,
    title: fromName(id).scenario,
    targetUrl: target.url,
    startedAt,
    scenario,
    ...(target.dialect !== undefined && { dialect: target.dialect }),
    ...(target.emulated === true && { emulated: target.emulated }),
    estimate,
    ...(estimateProblem !== undefined && { estimateProblem }),
  };
}

function interruptedRun(
  folder: string,
  { scenarioText: text }: InterruptedRun,
  snapshots: readonly Snapshot[],
): PanelRun {
  const name = path.basename(folder);
  const { scenario: title, startedMs } = fromName(name);
  const { scenario } = parseScenario(text ?? '');
  if (!scenario) {
    throw new ExpectedError(
      'result-damaged',
      `${folder} was interrupted and its scenario cannot be read; ${snapshots.length} samples are in ${samplesFile}.`,
    );
  }
  return {
    id: name,
    title,
    targetUrl: targetWords(scenario.target && withTexts(scenario.target, redactTarget)),
    startedAt: new Date(startedMs).toISOString(),
    scenario,
    estimate: null,
  };
}
