// What reading one delivery costs without any socket: the receiver with all its counting, fed from memory as
// 2,000 receivers of a broadcast would feed it, with `to-all` as second argument also when a message has reached the
// last of them. Prints one line of JSON: microseconds per delivery.
import { closedPlan } from '../out/src/engine/calibrate/roundTrips.js';
import { codecForProtocol } from '../out/src/wire/connect/connectHub.js';
import { stampKey, stampLength, writeStamp } from '../out/src/wire/message/stamp.js';
import {
  createTimeToAllMemory,
  TimeToAllTracker,
} from '../out/src/engine/prepare/timeToAllTracker.js';
import { counting } from './engineParts.mjs';

const [protocol, timeToAll] = process.argv.slice(2);
const receivers = 2000;
const warmup = 200;
const messages = 500;

const codec = codecForProtocol(protocol);
const plan = closedPlan(receivers, protocol, 'broadcast', { messageSize: 2048 });
const reach = timeToAll === 'to-all' ? new TimeToAllTracker(createTimeToAllMemory()) : undefined;
const { step, stamp, receiver } = counting(plan, undefined, reach);
const connections = Array.from({ length: receivers }, (_, index) => ({ index, stopped: false }));
const bytes = codec.encode({
  type: 1,
  target: 'RecordLatency',
  arguments: [
    {
      [stampKey]: 's'.repeat(stampLength),
      'payload.Timestamp': 1_800_000_000_000,
      'payload.MessageBlob': 'x'.repeat(2048),
    },
  ],
});
const stampAt = bytes.indexOf('s'.repeat(stampLength));

function broadcast(count) {
  for (let message = 0; message < count; message++) {
    writeStamp(bytes, stampAt, stamp);
    reach?.sent(stamp, receivers);
    stamp.sequence += 1;
    for (const connection of connections)
      receiver.received(connection, bytes, 0, bytes.length, bytes.length + 4);
  }
}

broadcast(warmup);
const cpuBefore = process.cpuUsage();
broadcast(messages);
const { user, system } = process.cpuUsage(cpuBefore);
if (step.received !== (warmup + messages) * receivers) throw new Error(`${step.received} counted`);
if (reach !== undefined && step.timeToAll.count !== warmup + messages)
  throw new Error(`${step.timeToAll.count} reached all`);
console.log(JSON.stringify({ us: (user + system) / (messages * receivers) }));
