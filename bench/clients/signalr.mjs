// The official client: JSON protocol over WebSocket without negotiation, used as its documentation shows.
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { stampText } from '../stamp.mjs';

/** See bench/README.md, *A client*. */
export async function open({ url, connections, batch, blob, nowUs, record }) {
  let roundTrips = 0;

  const send = (connection) => {
    const message = { 'payload.Timestamp': stampText(nowUs()), 'payload.MessageBlob': blob };
    // A connection that is closing refuses; the missing round trips show it.
    connection.send('Echo', message).catch(() => {});
  };

  const openOne = async () => {
    const connection = new HubConnectionBuilder()
      .withUrl(url, { skipNegotiation: true, transport: HttpTransportType.WebSockets })
      .configureLogging(LogLevel.None)
      .build();
    connection.on('RecordLatency', (message) => {
      roundTrips++;
      record(nowUs() - Number(message['payload.Timestamp']));
      send(connection);
    });
    await connection.start();
    return connection;
  };

  const all = await batch(connections, openOne);
  return {
    start() {
      for (const connection of all) send(connection);
    },
    roundTrips: () => roundTrips,
  };
}
