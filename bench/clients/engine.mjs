// Our engine as a run uses it: its connections, its prepared messages, its receiver with all its counting
// (two latency series, sequence numbers, bytes). Only the pacing is left out: each echo sends the next.
import { RoundTrips } from '../../out/src/engine/calibrate/roundTrips.js';
import { codecForEndpoint } from '../../out/src/wire/connect/connectHub.js';

/** See bench/README.md, *A client*. */
export async function open({ url, transport, connections, protocol, batch, blob, record }) {
  const webSockets = transport === 'WebSockets';
  const classic = protocol === 'classic';
  const endpoint = {
    urls: [url],
    headers: {},
    query: {},
    // The certificate of a peer of the bench is nobody's.
    insecureTls: url.startsWith('https:'),
    skipNegotiation: webSockets && !classic,
    ...(classic && { classic }),
    ...(webSockets ? {} : { transport }),
  };
  const codec = codecForEndpoint(protocol, endpoint);
  const trips = new RoundTrips(endpoint, connections, blob, protocol, codec);
  trips.onRoundTrip = record;
  await batch(connections, () => trips.open());
  return { start: () => trips.start(), roundTrips: () => trips.count };
}
