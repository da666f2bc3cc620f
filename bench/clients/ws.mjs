// The `ws` package used with as little around it as possible: one prepared message, the stamp patched in
// and found again by its place, no JSON.
import { WebSocket } from 'ws';
import { stampDigits, stampText } from '../stamp.mjs';

const handshake = '{"protocol":"json","version":1}\x1e';
const before = '{"type":1,"target":"Echo","arguments":[{"payload.Timestamp":"';
const stampKey = Buffer.from('"payload.Timestamp":"');

function openOne({ url, received }) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
    let shaken = false;
    socket.on('error', reject);
    socket.on('open', () => socket.send(handshake));
    socket.on('message', (data) => {
      if (shaken) {
        const at = data.indexOf(stampKey) + stampKey.length;
        received(socket, Number(data.latin1Slice(at, at + stampDigits)));
      } else {
        shaken = true;
        resolve(socket);
      }
    });
  });
}

/** See bench/README.md, *A client*. */
export async function open({ url, connections, batch, blob, nowUs, record, paced = false }) {
  const message = Buffer.from(`${before}${stampText(0)}","payload.MessageBlob":"${blob}"}]}\x1e`);
  let roundTrips = 0;

  const send = (socket, dueUs = nowUs()) => {
    message.latin1Write(stampText(dueUs), before.length);
    // ws masks into a copy of its own.
    socket.send(message, { binary: false });
  };
  const received = (socket, stampUs) => {
    roundTrips++;
    record(nowUs() - stampUs, stampUs);
    if (!paced) send(socket);
  };

  const sockets = await batch(connections, () => openOne({ url, received }));
  return {
    start() {
      for (const socket of sockets) send(socket);
    },
    send: (at, dueUs) => send(sockets[at], dueUs),
    roundTrips: () => roundTrips,
  };
}
