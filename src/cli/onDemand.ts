/**
 * What only some command lines need, in a bundle of its own: `cli.js` reads arguments and scenarios, and plans
 * and follows runs.
 */
export { estimate } from '../capacity/estimate';
export { loadOf } from '../capacity/load/loadOf';
export { completeResult } from '../results/completeResult';
export { completeWords } from './commands/completeWords';
export { completionScripts } from './commands/completionScripts';
export { doctorCommand } from './commands/doctorCommand';
export { estimateCommand } from './commands/estimateCommand';
export { exportCommand } from './commands/exportCommand';
export { finalScreen } from './views/finalScreen';
export { importCommand } from './commands/importCommand';
export { initCommand } from './commands/initCommand';
export { keysCommand } from './commands/keysCommand';
export { createLiveView } from './views/liveView';
export { createPlainView } from './views/plainView';
export {
  serveAppServerCommand,
  serveAzureSignalrCommand,
  serveHubCommand,
  serveUpstreamCommand,
  serveWebPubSubCommand,
} from './commands/serveCommand';
export { showCommand } from './commands/showCommand';
export { writeCounters } from '../results/counters/counterFile';
export { validateCommand } from './commands/validateCommand';
export { startRun } from '../runner/lead/startRun';
export { probeConnection } from '../targets/connect/probeConnection';
export { openTarget } from '../targets/openTarget';
export { calibrate } from '../runner/calibrate/calibrate';
export { askHub, probeHub } from '../wire/connect/probeHub';
export { redirectHosts } from '../wire/connect/redirectHosts';
