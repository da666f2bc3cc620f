// What the ways of the two services cost the load generator: beside the official packages, and in whole runs.
import { measure, median, output, runScenario, serve, startPeer } from './processes.mjs';

const rounds = 3;
const clients = 200;
const calls = 50;

/** CPU of our engine and of an official package, in turns. */
async function compare(ours, theirs, variant, url, count, seconds) {
  const cpu = { [ours]: [], [theirs]: [] };
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [ours, theirs] : [theirs, ours];
    for (const client of order)
      cpu[client].push(
        (await measure(`${client}/${variant}`, 'WebSockets', url, count, seconds)).cpuUs,
      );
  }
  const [own, other] = Object.values(cpu).map(median);
  return `${own.toFixed(1)} us of CPU, ${other.toFixed(1)} us with the official package, ${(other / own).toFixed(2)}x`;
}

async function printRatios(seconds) {
  const peer = await startPeer('bench/servicePeer.mjs');
  try {
    for (const [variant, words] of [
      ['json', 'JSON'],
      ['reliable', 'reliable JSON'],
    ]) {
      const names = ['webPubSubEngine', 'webPubSubOfficial', variant];
      const said = await compare(...names, peer.url, clients, seconds);
      console.log(
        `Web PubSub group message of 2 KB, up and back, ${clients} clients, ${words}: ${said}.`,
      );
    }
    for (const receiver of ['all', 'group']) {
      const said = await compare('restEngine', 'restOfficial', receiver, peer.url, calls, seconds);
      console.log(`REST send of 2 KB to ${receiver}, Web PubSub, ${calls} at a time: ${said}.`);
    }
  } finally {
    peer.stop();
  }
}

/** Each connection sends at an even rate; an objective that no busy machine misses. */
const scenario = (service, useCase, connections, parameters) => `config:
  service: ${service}
  connections: ${connections}
  baseSending: ${connections}
  arrivingRate: 1500
  connectInFlight: 200
  singleStepDuration: 5s
  warmup: 2s
  drain: 5s
  workers: 1
scenario: { name: ${useCase}, parameters: { messageSize: 2KB, ${parameters} } }
slo: { p99: 10s }
`;

/** Whole runs with one worker: exact counts, and what each message that was sent costs. */
async function printRuns() {
  const groups = 'sendingInterval: 2500ms, groupCount: 500';
  for (const [title, emulator, text] of [
    [
      '5,000 Web PubSub clients in groups of ten, 2,000 messages/s in',
      'web-pubsub',
      scenario('webpubsub', 'sendToGroup', 5000, groups),
    ],
    [
      '2,000 REST requests/s to users, Web PubSub',
      'web-pubsub',
      scenario('webpubsub', 'restSendToUser', 500, 'sendingInterval: 250ms'),
    ],
    [
      '5,000 messages/s to users over one server connection, Azure SignalR',
      'azure-signalr',
      scenario('signalr', 'restPersistSendToUser', 500, 'sendingInterval: 100ms'),
    ],
  ]) {
    const { target, stop } = await serve(emulator);
    try {
      const { result } = await runScenario(text, target);
      console.log(`${title}: ${runWords(result.steps.at(-1))}`);
    } finally {
      stop();
    }
  }
}

function runWords({ seconds, offered, sent, expected, received, duplicated, generator, verdict }) {
  const counts = `${sent} of ${offered} sent, ${received} of ${expected} received, ${duplicated} twice`;
  const cpuUs = (generator.cpuUsPerMessage * (sent + received)) / sent;
  const perCore = Math.round(1e6 / cpuUs);
  return (
    `${counts}; ${cpuUs.toFixed(1)} us of CPU for each that was sent and what came of it, ` +
    `${perCore} a second and core (${(sent / seconds).toFixed(0)} a second here, ${verdict.status}).`
  );
}

async function printAppServer(seconds) {
  for (const protocol of ['json', 'messagepack']) {
    const said = await output('app server', [
      'bench/appServer.mjs',
      protocol,
      '500',
      String(seconds),
    ]);
    console.log(`App server, ${said.trim()}.`);
  }
}

/** What prints each part; all are given the seconds of one measurement. */
export const services = { ratios: printRatios, appServer: printAppServer, runs: printRuns };
