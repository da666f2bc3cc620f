/** What only some command lines need, in a bundle of its own. */
import type * as Recorded from './onRecord';

export { estimate } from '../capacity/estimate';
export { loadOf } from '../capacity/load/loadOf';
export { completeResult } from '../results/completeResult';
export { completeWords, printScript } from './tree/completion';
export { findBaseline, isBaselineWord } from '../results/compare/baseline';
export { baselineCommand, compareCommand } from './commands/storedRuns';
export { doctorCommand } from './commands/doctorCommand';
export { estimateCommand } from './commands/estimateCommand';
export { finalScreen } from './views/finalScreen';
export { initCommand } from './commands/initCommand';
export { keysCommand } from './commands/keysCommand';
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
export { openLiveOutputs } from '../session/export/liveOutputs';
export { writeReports } from '../session/export/exporters';
export { replayedScenario } from './replayFlags';
export { validateCommand } from './commands/validateCommand';
export { startRun } from '../runner/lead/startRun';
export { openTarget, probeByKind } from '../targets/openTarget';
export { calibrate } from '../runner/calibrate/roundTrips';
export { askHub, probeHub } from '../wire/connect/probeHub';
export { redirectHosts } from '../wire/connect/probeHub';
export { onBus } from './loadOnBus';

/** Loaded from here, so that nothing of it is in two bundles. */
export const onRecord = (): Promise<typeof Recorded> =>
  import(/* webpackChunkName: "record" */ './onRecord.js');
