/** Code that only some command lines need: a bundle of its own. */
import type {
  importCommand as ImportCommand,
  recordCommand as RecordCommand,
} from './commands/recordCommand';
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { isRecording } from '../run/scenarioFile';
import type { ProcessIo } from './io';

export { estimate } from '../capacity/estimate';
export { loadOf } from '../capacity/load/loadOf';
export { completeResult } from '../results/completeResult';
export { completeWords, printScript } from './tree/completion';
export { findBaseline, isBaselineKeyword, listFirstFew } from '../results/compare/baseline';
export { agentCommand } from './commands/agentCommand';
export { agentLogs, listAgents, removeAgents } from './commands/agentsCommand';
export { attachCommand } from './commands/attachCommand';
export { confirmLoad, contactsOfFlags } from './commands/confirmLoad';
export { baselineCommand, compareCommand } from './commands/storedRuns';
export { doctorCommand } from './commands/doctorCommand';
export { estimateCommand, withSizeProblems } from './commands/estimateCommand';
export { finalScreen } from './views/finalScreen';
export { initCommand } from './commands/initCommand';
export { keysCommand } from './commands/keysCommand';
export { gatherHosts } from './commands/onHosts';
export { attachInCluster, runOnKubernetes } from './commands/onKubernetes';
export { createLiveView, createPlainView } from './views/runView';
export {
  serveAppServer,
  serveAzureSignalr,
  serveHub,
  serveUpstream,
  serveWebPubSub,
} from './commands/serveCommand';
export { exportCommand, importCounters, showCommand } from './commands/storedRuns';
export { writeCounterFile } from '../results/counters/counterFile';
export { openLiveOutputs } from '../run/export/liveOutputs';
export { runWithoutResult, writeReports } from '../run/export/exporters';
export { validateCommand } from './commands/validateCommand';
export { startRun } from '../engine/lead/startRun';
export { openTarget, probeTargetOf } from '../targets/openTarget';
export { calibrate } from '../engine/calibrate/roundTrips';
export { detectHubTraits, probeHub, redirectHosts } from '../wire/connect/probeHub';

// Only who records or imports loads it.
export const importCommand: typeof ImportCommand = async (...given) =>
  (await import(/* webpackChunkName: "record" */ './commands/recordCommand.js')).importCommand(
    ...given,
  );
export const recordCommand: typeof RecordCommand = async (...given) =>
  (await import(/* webpackChunkName: "record" */ './commands/recordCommand.js')).recordCommand(
    ...given,
  );

export interface ReplayFlags {
  readonly clients?: number;
  readonly speed?: number;
  readonly spread?: number;
}

/**
 * The scenario that replays a recording; undefined for other files.
 * @throws ExpectedError `flag-without-effect`, and as the recording is refused
 */
export async function replayedScenario(
  file: string,
  { clients, speed, spread }: ReplayFlags,
  { cwd }: Pick<ProcessIo, 'cwd'>,
): Promise<{ readonly name: string; readonly text: string } | undefined> {
  const location = path.resolve(cwd, file);
  if (file !== '-' && (await isRecording(location))) {
    const { replayScenario } = await import(
      /* webpackChunkName: "record" */ '../record/replay/replayScenario.js'
    );
    const wishes = { times: clients, speed, spreadMs: spread };
    return { name: file, text: await replayScenario(location, wishes) };
  }
  const given = Object.entries({ clients, speed, spread }).find(([, value]) => value !== undefined);
  if (given === undefined) return undefined;
  throw new ExpectedError(
    'flag-without-effect',
    `--${given[0]} belongs to the replay of a recording, and ${file} is not one. Nothing was started.`,
  );
}
