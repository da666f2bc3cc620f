// The official client, used as its documentation shows; without negotiation over WebSockets.
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { stampText } from '../stamp.mjs';

/** See bench/README.md, *A client*. */
export async function open(options) {
  const { url, transport, connections, protocol, batch, blob, nowUs, record, paced } = options;
  let roundTrips = 0;

  const send = (connection, dueUs = nowUs()) => {
    const message = { 'payload.Timestamp': stampText(dueUs), 'payload.MessageBlob': blob };
    // A connection that is closing refuses; the missing round trips show it.
    connection.send('Echo', message).catch(() => {});
  };

  const openOne = async () => {
    const builder = new HubConnectionBuilder()
      .withUrl(url, {
        skipNegotiation: transport === 'WebSockets',
        transport: HttpTransportType[transport],
      })
      .configureLogging(LogLevel.None);
    if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol());
    const connection = builder.build();
    connection.on('RecordLatency', (message) => {
      roundTrips++;
      const stampUs = Number(message['payload.Timestamp']);
      record(nowUs() - stampUs, stampUs);
      if (paced !== true) send(connection);
    });
    await connection.start();
    return connection;
  };

  const all = await batch(connections, openOne);
  return {
    start() {
      for (const connection of all) send(connection);
    },
    send: (at, dueUs) => send(all[at], dueUs),
    roundTrips: () => roundTrips,
  };
}
