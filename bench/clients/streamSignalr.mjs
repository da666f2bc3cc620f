// The official client with streams, used as its documentation shows: a Subject goes up, an observer gets
// what comes down. Each item that comes back sends the next, and ten make a stream.
import { HttpTransportType, HubConnectionBuilder, LogLevel, Subject } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { itemsPerStream, stampText } from '../stamp.mjs';

/** See bench/README.md, *A client*. */
export async function open({ url, connections, protocol, batch, blob, nowUs, record }) {
  let roundTrips = 0;

  const stream = (connection) => {
    const subject = new Subject();
    let sent = 0;
    const send = () => {
      sent++;
      subject.next({ 'payload.Timestamp': stampText(nowUs()), 'payload.MessageBlob': blob });
    };
    connection.stream('StreamingEcho', subject, 0).subscribe({
      next(item) {
        roundTrips++;
        record(nowUs() - Number(item['payload.Timestamp']));
        if (sent < itemsPerStream) {
          send();
        } else {
          subject.complete();
          stream(connection);
        }
      },
      complete() {},
      // A connection that is closing refuses; the missing round trips show it.
      error() {},
    });
    // The call itself leaves in a microtask, and items may only follow it.
    setImmediate(send);
  };

  const all = await batch(connections, async () => {
    const builder = new HubConnectionBuilder()
      .withUrl(url, { skipNegotiation: true, transport: HttpTransportType.WebSockets })
      .configureLogging(LogLevel.None);
    if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol());
    const connection = builder.build();
    connection.on('OnConnected', () => {});
    await connection.start();
    return connection;
  });
  return {
    start() {
      for (const connection of all) stream(connection);
    },
    roundTrips: () => roundTrips,
  };
}
