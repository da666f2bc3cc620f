import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import type { Snapshot } from '../measure/snapshot';
import type { PanelRun } from '../protocol/panel';
import { readResult, readSamples, type InterruptedRun } from '../results/readResult';
import { samplesFile } from '../results/resultFolder';
import { parseScenario } from '../scenario/parseScenario';
import { storedSource as finishedSource } from './panel/storedSource';
import type { PanelSource } from './panelSource';
import { fromName } from './resultEntry';

/** A chart shows no more than this apart; of more samples every second one goes. */
const mostSnapshots = 20_000;

/** What a stored run can do from a panel. */
export interface StoredActions {
  runAgain(folder: string): void;
  openScenario(folder: string): void;
  copySummary(folder: string): void;
}

const never = (): { dispose(): void } => ({ dispose: () => undefined });

/**
 * A stored run, finished or interrupted, as a panel shows it.
 *
 * @param location result folder or its `result.json`
 * @throws ExpectedError as {@link readResult}, and `result-damaged` when an interrupted run has no
 * scenario that can be read
 */
export async function storedSource(location: string, actions: StoredActions): Promise<PanelSource> {
  const folder = path.basename(location).endsWith('.json') ? path.dirname(location) : location;
  const able = {
    runAgain: () => actions.runAgain(folder),
    openScenario: () => actions.openScenario(folder),
    copySummary: () => actions.copySummary(folder),
  };
  const stored = await readResult(location);
  if (stored.kind === 'result') return finishedSource(stored.path, stored.result, able);
  const snapshots = await snapshotsOf(path.join(folder, samplesFile));
  return {
    run: interruptedRun(folder, stored, snapshots),
    snapshots,
    result: undefined,
    spectra: [],
    interrupted: true,
    onSnapshot: never,
    onFinished: never,
    stop: () => undefined,
    ...able,
  };
}

async function snapshotsOf(file: string): Promise<Snapshot[]> {
  let kept: Snapshot[] = [];
  for await (const sample of readSamples(file)) {
    kept.push(sample);
    if (kept.length > mostSnapshots) kept = kept.filter((_each, position) => position % 2 === 0);
  }
  return kept;
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
    targetUrl: scenario.target?.kind === 'hubUrl' ? scenario.target.urls.join(', ') : 'local',
    startedAt: new Date(startedMs).toISOString(),
    scenario,
    estimate: null,
  };
}
