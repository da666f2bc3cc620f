/** What speaks to hubs in the process of the command line itself, in a bundle of its own. */
export { calibrate } from '../runner/calibrate/calibrate';
export { askHub, probeHub } from '../wire/connect/probeHub';
export { redirectHosts } from '../wire/connect/redirectHosts';
