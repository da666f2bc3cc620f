/**
 * Commands that few runs need, in a bundle of their own.
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
export {
  serveAppServerCommand,
  serveAzureSignalrCommand,
  serveHubCommand,
  serveUpstreamCommand,
  serveWebPubSubCommand,
} from './commands/serveCommand';
export { showCommand } from './commands/showCommand';
export { summaryOf } from './commands/oldSummary';
export { writeCounters } from '../results/counters/counterFile';
export { validateCommand } from './commands/validateCommand';
