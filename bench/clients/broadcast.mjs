// Our engine as the receivers of a broadcast: one connection sends, all count what comes, with everything a
// run counts. The next message leaves when all have the one before; a "round trip" is one delivery.
import { closedPlan } from '../../out/src/engine/calibrate/roundTrips.js';
import { codecForProtocol } from '../../out/src/wire/connect/connectHub.js';
import { recordLatencyShape } from '../../out/src/wire/message/messageLayout.js';
import { holeLengths, MessageTemplate } from '../../out/src/wire/message/messageTemplate.js';
import { counting, openAll } from '../engineParts.mjs';

/** See bench/README.md, *A client*. */
export async function open(options) {
  const { connections, protocol, blob, nowUs, record } = options;
  const plan = closedPlan(connections, protocol, 'broadcast', { messageSize: blob.length });
  const { step, stamp, count } = counting(plan);
  const template = MessageTemplate.of(
    recordLatencyShape({ method: 'Broadcast', blob }),
    holeLengths(undefined),
    codecForProtocol(protocol),
  );
  const send = () => {
    stamp.intendedUs = stamp.sentUs = nowUs();
    if (!opened[0].send(template.fill(stamp, undefined, Date.now()))) template.detach();
    stamp.sequence += 1;
  };
  const opened = await openAll(options, (connection, buffer, start, end, frameBytes) => {
    const now = nowUs();
    if (count(connection, buffer, start, end, frameBytes, now) === 0) return;
    record(now - stamp.sentUs);
    if (step.received === stamp.sequence * connections) send();
  });
  return { start: send, roundTrips: () => step.received };
}
