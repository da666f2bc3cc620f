// CPU of an app server per echo through the service protocol, see bench/README.md:
// `node bench/appServer.mjs [json|messagepack] [CLIENTS] [SECONDS]`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { startAppServer } from '../out/src/servers/appServer/appServer.js';
import { codecForProtocol } from '../out/src/wire/connect/connectHub.js';
import { ServiceFrames } from '../out/src/wire/service/serviceStream.js';
import {
  encodeServiceMessage,
  readServiceMessage,
} from '../out/src/wire/service/serviceMessage.js';

const [protocol = 'json', clientsText = '500', secondsText = '5'] = process.argv.slice(2);
const serverConnections = 5;
const clientsEach = Math.ceil(Number(clientsText) / serverConnections);
const seconds = Number(secondsText);
const settleMs = 1500;

/** Plays the service: the next echo of a client is asked for when the one before is completed. */
async function serveStub() {
  const codec = codecForProtocol(protocol);
  const payload = { 'payload.Timestamp': '0', 'payload.MessageBlob': 'x'.repeat(2048) };
  const echo = codec.encode({ type: 1, invocationId: '1', target: 'Echo', arguments: [payload] });
  let echoes = 0;
  let deliveries = 0;
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    let batch = [];
    const send = (message) => {
      if (batch.length === 0) {
        setImmediate(() => {
          socket.send(Buffer.concat(batch));
          batch = [];
        });
      }
      batch.push(encodeServiceMessage(message));
    };
    const invoke = (connectionId) => send({ type: 6, connectionId, payload: echo });
    const open = (connectionId) => {
      send({ type: 4, connectionId, claims: [], protocol });
      send({ type: 6, connectionId, payload: Buffer.from(codec.handshake) });
      invoke(connectionId);
    };
    const frames = new ServiceFrames(1 << 24, (bytes, start, end) => {
      const message = readServiceMessage(bytes, start, end);
      if (message?.type === 1) {
        send({ type: 2, errorMessage: '' });
        for (let index = 0; index < clientsEach; index++) open(`client-of-the-bench-${index}`);
      } else if (message?.type === 7) {
        deliveries++;
      } else if (message?.type === 6 && message.dataType === 2) {
        echoes++;
        invoke(message.connectionId);
      }
    });
    socket.on('message', (data) => frames.push(data));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(server.address().port);
  process.on('message', () => process.send({ echoes, deliveries }));
  process.on('disconnect', () => process.exit(0));
}

async function measure() {
  const args = [protocol, clientsText, secondsText];
  const stub = fork(fileURLToPath(import.meta.url), args, {
    env: { ...process.env, BENCH_STUB: '1' },
  });
  const [port] = await once(stub, 'message');
  const origin = `http://127.0.0.1:${port}`;
  const endpoints = { clientEndpoint: origin, serverEndpoint: origin };
  const server = await startAppServer({
    service: { audience: 'http://127.0.0.1', ...endpoints, accessKey: 'of the bench' },
    hub: 'bench',
    serverConnections,
  });
  const counts = async () => {
    stub.send('count');
    return (await once(stub, 'message'))[0];
  };
  await sleep(settleMs);
  const before = await counts();
  const cpuBefore = process.cpuUsage();
  await sleep(seconds * 1000);
  const cpu = process.cpuUsage(cpuBefore);
  const after = await counts();
  const echoes = after.echoes - before.echoes;
  // Each client has its OnConnected besides, and one echo may be between its delivery and its completion.
  const unmatched = after.deliveries - after.echoes - server.counts.clients;
  if (Math.abs(unmatched) > server.counts.clients) throw new Error('echoes without a delivery');
  const cpuUs = (cpu.user + cpu.system) / echoes;
  console.log(
    `${protocol}: ${cpuUs.toFixed(1)} µs CPU per echo, ${Math.round(echoes / seconds)} echoes a second`,
  );
  await server.dispose();
  stub.disconnect();
}

await (process.env.BENCH_STUB === undefined ? measure() : serveStub());
