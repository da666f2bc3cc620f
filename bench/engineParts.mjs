// What clients that use our engine's parts by themselves have in common.
import { populationsOf } from '../out/src/plan/population.js';
import { Receiver } from '../out/src/engine/receive/receiver.js';
import { Recorder } from '../out/src/engine/recorder.js';
import { parseScenario } from '../out/src/scenario/parseScenario.js';
import { openTarget } from '../out/src/targets/openTarget.js';
import { WebSocketConnection } from '../out/src/wire/hub/webSocketConnection.js';
import { codecForProtocol } from '../out/src/wire/connect/connectHub.js';
import { emptyStamp } from '../out/src/wire/message/stamp.js';

export const limits = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 4 * 1024 * 1024 };

/**
 * Our receiver with everything a run counts.
 *
 * @param other hears of hub messages that are no deliveries
 */
/** `reach`: absent where nobody asks when messages have reached all their receivers. */
export function counting(plan, other = () => {}, reach = undefined) {
  const recorder = new Recorder();
  const step = recorder.beginStep(1);
  let nowUs = 100;
  const populations = populationsOf(plan);
  const receiver = new Receiver(plan, populations, recorder, {
    nowUs: () => nowUs,
    members: { wasMember: () => true },
    other,
    reach,
  });
  return {
    step,
    receiver,
    populations,
    stamp: Object.assign(emptyStamp(), { runId: plan.runId, step: 1 }),
    /** Reads what has come; returns how many deliveries it was. */
    count(connection, buffer, start, end, frameBytes, now) {
      const before = step.received;
      nowUs = now;
      receiver.received(connection, buffer, start, end, frameBytes);
      if (step.duplicated + step.extra + step.outOfOrder > 0) throw new Error('not exactly once');
      return step.received - before;
    },
  };
}

/** Listener of connections that must not be lost. */
export const listener = (received) => ({
  received,
  lost(_connection, errorClass, text) {
    throw new Error(`a connection was lost: ${errorClass}: ${text}`);
  },
});

/** An endpoint whose hub is not negotiated with. */
export const endpointAt = (url) => ({
  urls: [url],
  headers: {},
  query: {},
  insecureTls: false,
  skipNegotiation: true,
});

/** Opens our own connections to a hub, which shake hands at once. */
export function openAll({ url, connections, protocol, batch }, received) {
  const where = { url: new URL(url), headers: {} };
  const options = { ...limits, codec: codecForProtocol(protocol) };
  const onward = listener(received);
  let next = 0;
  return batch(connections, () => {
    const { signal } = new AbortController();
    const opening = { index: next++, endpoint: endpointAt(url), listener: onward, options, signal };
    return WebSocketConnection.open(where, opening);
  });
}

/** The endpoint of a hub on Azure Web PubSub, as a run opens it. */
export async function webPubSubEndpoint(connectionString) {
  const config = JSON.stringify({ service: 'webpubsub', target: connectionString });
  const text = `config: ${config}\nscenario: { name: connectOnly }\n`;
  const { scenario } = parseScenario(text);
  const context = { reference: () => undefined };
  return (await openTarget(scenario, context)).endpoint;
}
