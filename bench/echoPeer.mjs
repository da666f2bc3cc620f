// A SignalR hub reduced to what an echo and a broadcast need, so that the load generator and not the server
// is what the bench measures. Raw sockets; a message's `arguments` are copied as bytes, nothing is parsed.
// Prints its URL on standard output and ends when its standard input does. With files of a key and a certificate as
// arguments it speaks TLS.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

const recordEnd = 0x1e;
const answerStart = Buffer.from('{"type":1,"target":"RecordLatency","arguments":');
const answerEnd = Buffer.from('}\x1e');
const argumentsKey = Buffer.from('"arguments":');
const broadcast = Buffer.from('Broadcast');
/** In MessagePack: [1, {}, nil, 'RecordLatency', … and no streams behind the arguments. */
const packedStart = Buffer.concat([Buffer.from('960180c0ad', 'hex'), Buffer.from('RecordLatency')]);
const packedEnd = Buffer.from([0x90]);
/** RFC 6455, section 1.3. */
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
const maxPayloadBytes = 1024 * 1024;

/** Sockets past their handshake, for broadcasts. */
const shaken = new Set();

/** Aligned copy of the payload at hand, to unmask four bytes at a time. */
const scratch = Buffer.from(new ArrayBuffer(maxPayloadBytes));
const scratchWords = new Int32Array(scratch.buffer);

function frameHead(target, code, payloadBytes) {
  target[0] = 0x80 | code;
  if (payloadBytes < 126) {
    target[1] = payloadBytes;
    return 2;
  }
  if (payloadBytes < 65536) {
    target[1] = 126;
    target.writeUInt16BE(payloadBytes, 2);
    return 4;
  }
  target[1] = 127;
  target.writeUInt32BE(0, 2);
  target.writeUInt32BE(payloadBytes, 6);
  return 10;
}

function textFrame(payload, code = opcode.text) {
  const frame = Buffer.allocUnsafe(payload.length + 10);
  const head = frameHead(frame, code, payload.length);
  payload.copy(frame, head);
  return frame.subarray(0, head + payload.length);
}

const handshakeText = Buffer.from('{}\x1e');
const handshakeAnswer = textFrame(handshakeText);
const packedHandshakeAnswer = textFrame(handshakeText, opcode.binary);

/** Answers one hub message, `scratch[from … to)`, if it is an invocation. */
function answerMessage(socket, from, to) {
  const key = scratch.subarray(from, to).indexOf(argumentsKey);
  if (key < 0) return;
  const start = from + key + argumentsKey.length;
  // Clients write the fields in different orders, but none has a bracket after the arguments.
  const end = scratch.lastIndexOf(0x5d, to - 1) + 1;
  answer(socket, opcode.text, answerStart, start, end, answerEnd, from);
}

/** Sends `scratch[start … end)` between head and tail back, or to everybody for a broadcast. */
function answer(socket, code, head, start, end, tail, messageStart) {
  const bytes = head.length + (end - start) + tail.length;
  const frame = Buffer.allocUnsafe(bytes + 10);
  let at = frameHead(frame, code, bytes);
  at += head.copy(frame, at);
  at += scratch.copy(frame, at, start, end);
  at += tail.copy(frame, at);
  const whole = frame.subarray(0, at);
  if (scratch.subarray(messageStart, start).includes(broadcast)) {
    for (const receiver of shaken) receiver.write(whole);
  } else {
    socket.write(whole);
  }
}

/** A length as it stands before a message in MessagePack. */
function lengthPrefix(length) {
  const bytes = [];
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Answers the invocations in `scratch[0 … bytes)`: [1, {}, nil, method, arguments] and perhaps []. */
function handlePacked(socket, bytes) {
  let from = 0;
  while (from < bytes) {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = scratch[from++];
      length += (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    const to = from + length;
    if (scratch[from + 1] === 1) {
      const start = from + 5 + (scratch[from + 4] & 0x1f);
      const end = scratch[from] === 0x96 ? to - 1 : to;
      const body = packedStart.length + (end - start) + packedEnd.length;
      const head = Buffer.concat([lengthPrefix(body), packedStart]);
      answer(socket, opcode.binary, head, start, end, packedEnd, from);
    }
    from = to;
  }
}

/** Handles the messages in `scratch[0 … bytes)`: first the handshake, then anything. */
function handleText(socket, state, bytes) {
  let from = 0;
  while (from < bytes) {
    const to = scratch.indexOf(recordEnd, from);
    if (to < 0 || to >= bytes) return;
    if (state.shaken) {
      answerMessage(socket, from, to);
    } else {
      state.shaken = true;
      state.packed = scratch.subarray(from, to).includes('messagepack');
      shaken.add(socket);
      socket.write(state.packed ? packedHandshakeAnswer : handshakeAnswer);
    }
    from = to + 1;
  }
}

/** Copies a masked payload to `scratch` and takes the mask off. */
function unmask(data, maskAt, bytes) {
  const mask = data.readInt32LE(maskAt);
  data.copy(scratch, 0, maskAt + 4, maskAt + 4 + bytes);
  // The mask repeats every four bytes and both sides are little-endian, so whole words will do.
  const words = (bytes + 3) >>> 2;
  for (let word = 0; word < words; word++) scratchWords[word] ^= mask;
}

/** Handles the frame at `at`; returns where the next one starts, or -1 when it is not complete. */
function handleFrame(socket, state, data, at) {
  if (data.length - at < 6) return -1;
  let bytes = data[at + 1] & 0x7f;
  let maskAt = at + 2;
  if (bytes === 126) {
    bytes = data.readUInt16BE(at + 2);
    maskAt = at + 4;
  } else if (bytes === 127) {
    if (data.length - at < 14) return -1;
    bytes = Number(data.readBigUInt64BE(at + 2));
    maskAt = at + 10;
  }
  const code = data[at] & 0x0f;
  if (bytes > maxPayloadBytes || (data[at + 1] & 0x80) === 0 || code === opcode.continuation) {
    socket.destroy();
    return data.length;
  }
  if (data.length < maskAt + 4 + bytes) return -1;
  unmask(data, maskAt, bytes);
  if (code === opcode.text || code === opcode.binary) {
    if (state.packed) handlePacked(socket, bytes);
    else handleText(socket, state, bytes);
  } else if (code === opcode.ping) {
    socket.write(textFrame(scratch.subarray(0, bytes), opcode.pong));
  } else if (code === opcode.close) {
    socket.end(textFrame(scratch.subarray(0, bytes), opcode.close));
  }
  return maskAt + 4 + bytes;
}

/** Answers the upgrade request at the start of `data`; returns its length, or -1 when incomplete. */
function handleUpgrade(socket, data) {
  const end = data.indexOf('\r\n\r\n');
  if (end < 0) return -1;
  const key = /^sec-websocket-key:\s*(\S+)/im.exec(data.latin1Slice(0, end))?.[1];
  if (key === undefined) {
    socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    return data.length;
  }
  const accept = createHash('sha1')
    .update(key + webSocketGuid)
    .digest('base64');
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  return end + 4;
}

const [keyFile, certificateFile] = process.argv.slice(2);
const isSecure = certificateFile !== undefined;
const options = isSecure
  ? { noDelay: true, key: readFileSync(keyFile), cert: readFileSync(certificateFile) }
  : { noDelay: true };
const server = (isSecure ? createTlsServer : createServer)(options, (socket) => {
  const state = { upgraded: false, shaken: false, packed: false, rest: undefined };
  socket.on('close', () => shaken.delete(socket));
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const data = state.rest === undefined ? chunk : Buffer.concat([state.rest, chunk]);
    let at = 0;
    if (!state.upgraded) {
      at = handleUpgrade(socket, data);
      state.upgraded = at >= 0;
    }
    while (at >= 0 && at < data.length) {
      const next = handleFrame(socket, state, data, at);
      if (next < 0) break;
      at = next;
    }
    state.rest = at < data.length ? data.subarray(Math.max(at, 0)) : undefined;
  });
});

server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  console.log(`${isSecure ? 'https' : 'http'}://127.0.0.1:${server.address().port}/hub`);
});
process.stdin.on('end', () => process.exit(0)).resume();
