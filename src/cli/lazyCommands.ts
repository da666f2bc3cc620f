/**
 * Commands that few runs need, in a bundle of their own.
 */
export { estimate } from '../capacity/estimate';
export { loadOf } from '../capacity/loadOf';
export { completeResult } from '../results/completeResult';
export { completeWords } from './completeWords';
export { completionScripts } from './completionScripts';
export { doctorCommand } from './doctorCommand';
export { estimateCommand } from './estimateCommand';
export { exportCommand } from './exportCommand';
export { finalScreen } from './finalScreen';
export { importCommand } from './importCommand';
export { initCommand } from './initCommand';
export { keysCommand } from './keysCommand';
export { createLiveView } from './liveView';
export {
  serveAppServerCommand,
  serveAzureSignalrCommand,
  serveHubCommand,
  serveUpstreamCommand,
  serveWebPubSubCommand,
} from './serveCommand';
export { showCommand } from './showCommand';
export { summaryOf } from './oldSummary';
export { writeCounters } from '../results/counterFile';
export { validateCommand } from './validateCommand';
