// Another client behind a simple schedule, in a fresh process: what somebody writes who needs a load generator for a day.
//   node bench/paced.mjs ws|signalr URL CONNECTIONS SENDS_PER_SECOND_EACH SECONDS SENDERS[,SENDERS…]
// A timer of a millisecond sends what is due; latency counts from then. One step for each number of senders, each with a
// second that is not measured. Prints one line of JSON for each step, with the fields of a step of a result that are used.
import { setTimeout as sleep } from 'node:timers/promises';
import { latencyHistogram, nowUs } from './stamp.mjs';
import { openInBatches } from './batches.mjs';

const [name, url, connectionsText, eachText, secondsText, sendersText] = process.argv.slice(2);
const connections = Number(connectionsText);
const intervalUs = 1e6 / Number(eachText);
const measureUs = Number(secondsText) * 1e6;
const warmupUs = 1e6;
const drainMs = 1000;

const latency = latencyHistogram();
const slip = latencyHistogram();
let window = { fromUs: Infinity, untilUs: Infinity };
let received = 0;
const isMeasured = (dueUs) => dueUs >= window.fromUs && dueUs < window.untilUs;

const { open } = await import(`./clients/${name}.mjs`);
const running = await open({
  ...{ url, transport: 'WebSockets', connections, protocol: 'json', paced: true },
  ...{ batch: openInBatches, blob: 'x'.repeat(2048), nowUs },
  record(us, dueUs) {
    if (!isMeasured(dueUs)) return;
    received++;
    latency.recordValue(us);
  },
});

/** Sends the messages of a step, spread evenly over its senders and its time. */
async function step(senders) {
  const startUs = nowUs() + 10_000;
  window = { fromUs: startUs + warmupUs, untilUs: startUs + warmupUs + measureUs };
  received = 0;
  latency.reset();
  slip.reset();
  const dueOf = (number) => Math.floor(startUs + (number * intervalUs) / senders);
  let next = 0;
  let sent = 0;
  let cpu;
  // Late messages are sent as long as they are not later than the step's drain.
  for (let dueUs = dueOf(0); dueUs < window.untilUs; await sleep(1)) {
    const atUs = nowUs();
    if (atUs > window.untilUs + drainMs * 1000) break;
    if (cpu === undefined && atUs >= window.fromUs) cpu = process.cpuUsage();
    for (let burst = 0; burst < 256 && dueUs <= atUs && dueUs < window.untilUs; burst++) {
      if (isMeasured(dueUs)) {
        sent++;
        slip.recordValue(Math.max(0, nowUs() - dueUs));
      }
      running.send(next % senders, dueUs);
      dueUs = dueOf(++next);
    }
  }
  const used = process.cpuUsage(cpu);
  await sleep(drainMs);
  const offered = Math.round((senders * measureUs) / intervalUs);
  const cpuUs = used.user + used.system;
  return {
    ...{ senders, seconds: measureUs / 1e6, offered, sent, received },
    cpuUsPerEcho: cpuUs / received,
    cpuShare: cpuUs / measureUs,
    slipP99Us: slip.getValueAtPercentile(99),
    p99Us: latency.getValueAtPercentile(99),
  };
}

for (const senders of sendersText.split(',').map(Number)) {
  const one = await step(senders);
  console.log(JSON.stringify(one));
  // Beyond that there is nothing to be found, and the backlog would be in the next step.
  if (one.received < 0.9 * one.offered) break;
}
// The sockets close with the process.
process.exit(0);
