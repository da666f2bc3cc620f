// Our engine with streams as a run sends them: its prepared messages and its receiver with all its counting.
// Only the pacing is left out: each item that comes back sends the next, and ten make a stream.
import { populationsOf } from '../../out/src/plan/population.js';
import { StreamPlaces } from '../../out/src/runner/openStream.js';
import { Receiver } from '../../out/src/runner/receiver.js';
import { Recorder } from '../../out/src/runner/recorder.js';
import { StreamFrames } from '../../out/src/runner/streamFrames.js';
import { streamShape } from '../../out/src/usecases/streams.js';
import { WebSocketConnection } from '../../out/src/wire/hubConnection.js';
import { codecOf } from '../../out/src/wire/hubCodec.js';
import { emptyStamp } from '../../out/src/wire/stamp.js';
import { itemsPerStream, streamPlan } from '../streamPlan.mjs';

const limits = { maximumMessageBytes: 1024 * 1024, maximumUnsentBytes: 4 * 1024 * 1024 };

/** See bench/README.md, *A client*. */
export async function open({ url, connections, protocol, batch, blob, nowUs, record }) {
  const plan = streamPlan(connections, protocol, blob.length);
  const [entry] = plan.entries;
  const populations = populationsOf(plan);
  const [{ sourcesPerSender }] = populations;
  const codec = codecOf(protocol);
  const recorder = new Recorder();
  const step = recorder.beginStep(1);
  const receiver = new Receiver(plan, populations, recorder, {
    isMember: () => true,
    other: () => {},
  });
  const frames = new StreamFrames(plan, entry, streamShape(entry.parameters), true);
  const stamp = Object.assign(emptyStamp(), { runId: plan.runId, step: 1 });
  const states = [];
  let received = 0;

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
      frames.open(state.stream);
    }
    const { stream } = state;
    stamp.source = index * sourcesPerSender + stream.place;
    stamp.sequence = stream.nextSequence++;
    stamp.intendedUs = stamp.sentUs = state.sentUs = nowUs();
    stream.position++;
    frames.item(stream, stamp, 0);
  };
  const listener = {
    received(connection, buffer, start, end, frameBytes) {
      const now = nowUs();
      receiver.received(connection, buffer, start, end, frameBytes, now);
      if (step.received === received) return;
      received = step.received;
      record(now - states[connection.index].sentUs);
      if (step.duplicated + step.extra + step.outOfOrder > 0) throw new Error('not exactly once');
      sendNext(connection);
    },
    lost(_connection, errorClass, text) {
      throw new Error(`a connection was lost: ${errorClass}: ${text}`);
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
  const all = await batch(connections, () => {
    const index = states.push({}) - 1;
    states[index].places = new StreamPlaces(index);
    const options = { ...limits, codec };
    const { signal } = new AbortController();
    return WebSocketConnection.open(index, where, endpoint, listener, options, signal);
  });
  return {
    start() {
      for (const connection of all) sendNext(connection);
    },
    roundTrips: () => step.received,
  };
}
