/** What only some command lines need, in a bundle of its own. */
import type { importCommand as ImportCommand } from './commands/importCommand';
import type { recordCommand as RecordCommand } from './commands/recordCommand';

export { estimate } from '../capacity/estimate';
export { loadOf } from '../capacity/load/loadOf';
export { completeResult } from '../results/completeResult';
export { completeWords, printScript } from './tree/completion';
export { findBaseline, isBaselineWord, someOf } from '../results/compare/baseline';
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
export { writeCounters } from '../results/counters/counterFile';
export { openLiveOutputs } from '../run/export/liveOutputs';
export { withoutResult, writeReports } from '../run/export/exporters';
export { replayedScenario } from './replayFlags';
export { validateCommand } from './commands/validateCommand';
export { startRun } from '../engine/lead/startRun';
export { openTarget, probeTargetOf } from '../targets/openTarget';
export { calibrate } from '../engine/calibrate/roundTrips';
export { askHub, probeHub } from '../wire/connect/probeHub';
export { redirectHosts } from '../wire/connect/hubRedirects';

// No agent in a cluster reads recordings, and all that goes there has to fit into a ConfigMap.
export const importCommand: typeof ImportCommand = async (...given) =>
  (await import(/* webpackChunkName: "record" */ './commands/importCommand.js')).importCommand(
    ...given,
  );
export const recordCommand: typeof RecordCommand = async (...given) =>
  (await import(/* webpackChunkName: "record" */ './commands/recordCommand.js')).recordCommand(
    ...given,
  );
