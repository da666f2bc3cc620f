// Our engine with streams as a run sends them: its prepared messages and its receiver with all its counting.
// Only the pacing is left out: each item that comes back sends the next, and ten make a stream.
import { closedPlan } from '../../out/src/engine/calibrate/roundTrips.js';
import { StreamSlots } from '../../out/src/engine/send/openStream.js';
import { StreamMessages } from '../../out/src/engine/send/streamMessages.js';
import { counting, openAll } from '../engineParts.mjs';
import { itemsPerStream } from '../stamp.mjs';

/** See bench/README.md, *A client*. */
export async function open(options) {
  const { connections, protocol, blob, nowUs, record } = options;
  const plan = closedPlan(connections, protocol, 'streamingEcho', {
    messageSize: blob.length,
    streamingItemCount: itemsPerStream,
    streamingItemSendDelay: 0,
    streamDirection: 'both',
  });
  const [entry] = plan.entries;
  const { step, stamp, populations, count } = counting(plan);
  const [{ sourcesPerSender }] = populations;
  const frames = new StreamMessages(plan, entry, entry.run.streams, { framed: true });
  const states = Array.from({ length: connections }, (_, index) => ({
    places: new StreamSlots(index, entry.run.streams),
  }));

  const sendNext = (connection) => {
    const { index } = connection;
    const state = states[index];
    if (state.stream !== undefined && state.stream.position === itemsPerStream) {
      frames.end(state.stream);
      state.places.release(state.stream);
      state.stream = undefined;
    }
    if (state.stream === undefined) {
      state.stream = state.places.take();
      state.stream.connection = connection;
      state.stream.renew();
      frames.open(state.stream, stamp);
    }
    const { stream } = state;
    stamp.source = index * sourcesPerSender + stream.place;
    stamp.sequence = stream.nextSequence++;
    stamp.intendedUs = stamp.sentUs = state.sentUs = nowUs();
    stream.position++;
    frames.item(stream, stamp);
  };
  const all = await openAll(options, (connection, buffer, start, end, frameBytes) => {
    const now = nowUs();
    if (count(connection, buffer, start, end, frameBytes, now) === 0) return;
    record(now - states[connection.index].sentUs);
    sendNext(connection);
  });
  return {
    start() {
      for (const connection of all) sendNext(connection);
    },
    roundTrips: () => step.received,
  };
}
