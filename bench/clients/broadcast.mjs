// Our engine as the receivers of a broadcast: one connection sends, all count what comes, with everything a
// run counts. The next message leaves when all have the one before; a "round trip" is one delivery.
import { populationsOf } from '../../out/src/plan/population.js';
import { Receiver } from '../../out/src/runner/receiver.js';
import { Recorder } from '../../out/src/runner/recorder.js';
import { WebSocketConnection } from '../../out/src/wire/hubConnection.js';
import { codecOf } from '../../out/src/wire/hubCodec.js';
import { recordLatencyShape } from '../../out/src/wire/contractShape.js';
import { holeLengths, MessageTemplate } from '../../out/src/wire/messageTemplate.js';
import { emptyStamp } from '../../out/src/wire/stamp.js';
import { broadcastPlan } from '../broadcastPlan.mjs';

const limits = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 4 * 1024 * 1024 };

/** See bench/README.md, *A client*. */
export async function open({ url, connections, protocol, batch, blob, nowUs, record }) {
  const plan = broadcastPlan(connections, protocol);
  const codec = codecOf(protocol);
  const recorder = new Recorder();
  const step = recorder.beginStep(1);
  const receiver = new Receiver(plan, populationsOf(plan), recorder, {
    isMember: () => true,
    other: () => {},
  });
  const template = new MessageTemplate(
    recordLatencyShape({ method: 'Broadcast', blob }),
    holeLengths(undefined),
    codec,
  );
  const stamp = Object.assign(emptyStamp(), { runId: plan.runId, step: 1 });
  const opened = [];
  const send = () => {
    stamp.intendedUs = stamp.sentUs = nowUs();
    if (!opened[0].send(template.fill(stamp, undefined, Date.now()))) template.detach();
    stamp.sequence += 1;
  };
  const listener = {
    received(connection, buffer, start, end, frameBytes) {
      const now = nowUs();
      receiver.received(connection, buffer, start, end, frameBytes, now);
      record(now - stamp.sentUs);
      if (step.duplicated + step.extra + step.outOfOrder > 0) throw new Error('not exactly once');
      if (step.received === stamp.sequence * connections) send();
    },
    lost(_connection, errorClass, text) {
      throw new Error(`a receiver was lost: ${errorClass}: ${text}`);
    },
  };
  const endpoint = {
    urls: [url],
    headers: {},
    query: {},
    insecureTls: false,
    skipNegotiation: true,
  };
  const where = { url: new URL(url), headers: {} };
  let next = 0;
  opened.push(
    ...(await batch(connections, () => {
      const options = { ...limits, codec };
      const { signal } = new AbortController();
      return WebSocketConnection.open(next++, where, endpoint, listener, options, signal);
    })),
  );
  return { start: send, roundTrips: () => step.received };
}
