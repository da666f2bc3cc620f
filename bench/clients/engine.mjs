// Our engine as a run uses it: its connections, its prepared messages, its receiver with all its counting
// (two latency series, sequence numbers, bytes). Only the pacing is left out: each echo sends the next.
import { defaultSlo } from '../../out/src/base/slo.js';
import { populationOf } from '../../out/src/plan/population.js';
import { Receiver } from '../../out/src/runner/receiver.js';
import { Recorder } from '../../out/src/runner/recorder.js';
import { HubConnection } from '../../out/src/wire/hubConnection.js';
import { MessageTemplate } from '../../out/src/wire/messageTemplate.js';
import { emptyStamp } from '../../out/src/wire/stamp.js';

const limits = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 4 * 1024 * 1024 };

function planFor(connections, messageSize) {
  return {
    runId: 1,
    seed: 1,
    connections,
    useCase: 'echo',
    parameters: { messageSize, sendingInterval: 1000 },
    slo: defaultSlo,
    steps: [],
    workers: [{ worker: 0, workers: 1, connectInFlight: 100 }],
  };
}

/** See bench/README.md, *A client*. */
export async function open({ url, connections, batch, blob, nowUs, record }) {
  const plan = planFor(connections, blob.length);
  const recorder = new Recorder();
  const step = recorder.beginStep(1);
  const receiver = new Receiver(plan, populationOf(plan), recorder, {
    isMember: () => true,
    other: () => undefined,
  });
  const template = new MessageTemplate({ method: 'Echo', blob }, 0);
  const stamp = { ...emptyStamp(), runId: plan.runId, step: 1 };
  const sequences = new Int32Array(connections);
  const sentUs = new Float64Array(connections);
  let roundTrips = 0;

  const send = (connection) => {
    stamp.source = connection.index;
    stamp.sequence = sequences[connection.index]++;
    stamp.intendedUs = stamp.sentUs = sentUs[connection.index] = nowUs();
    if (!connection.send(template.fill(stamp, undefined, Date.now()))) template.detach();
  };
  const listener = {
    received(connection, buffer, start, end, frameBytes) {
      const arrivedUs = nowUs();
      receiver.received(connection, buffer, start, end, frameBytes, arrivedUs);
      if (step.received === roundTrips) return;
      roundTrips = step.received;
      record(arrivedUs - sentUs[connection.index]);
      send(connection);
    },
    lost(_connection, errorClass, text) {
      throw new Error(`${errorClass}: ${text}`);
    },
  };
  const endpoint = { urls: [url], headers: {}, query: {}, insecureTls: false, skipNegotiation: true };
  const where = { url: new URL(url), headers: {} };
  const opening = new AbortController().signal;
  let index = 0;
  const opened = await batch(connections, () =>
    HubConnection.open(index++, where, endpoint, listener, limits, opening),
  );
  return {
    start() {
      for (const connection of opened) send(connection);
    },
    roundTrips: () => roundTrips,
  };
}
