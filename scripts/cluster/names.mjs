// Names of services for the pods of the test cluster: NAME.NAMESPACE.svc.cluster.local is the address of the service, any
// other name is unknown. As much of the name service of a cluster as a run needs.
import { createSocket } from 'node:dgram';

const zone = '.svc.cluster.local';
const types = { a: 1 };
const classIn = 1;
const ttlS = 5;
const unknownName = 3;

/** The name and the type that are asked for, and where the question ends; undefined for what is no question. */
function questionOf(message) {
  const labels = [];
  let at = 12;
  while (at < message.length && message[at] > 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]));
    at += 1 + message[at];
  }
  if (at + 5 > message.length) return undefined;
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answer(message, addresses) {
  const question = questionOf(message);
  if (question === undefined) return undefined;
  const { name, type, end } = question;
  const address = addresses.get(name);
  const isAnswered = address !== undefined && type === types.a;
  const head = Buffer.alloc(12);
  message.copy(head, 0, 0, 2);
  // An answer, by who knows; recursion as it was asked for.
  head[2] = 0x84 | (message[2] & 1);
  head[3] = address === undefined ? unknownName : 0;
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(isAnswered ? 1 : 0, 6);
  const parts = [head, message.subarray(12, end)];
  if (isAnswered) {
    const record = Buffer.alloc(16);
    // The name stands at byte 12.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(types.a, 2);
    record.writeUInt16BE(classIn, 4);
    record.writeUInt32BE(ttlS, 6);
    record.writeUInt16BE(4, 10);
    Buffer.from(address.split('.').map(Number)).copy(record, 12);
    parts.push(record);
  }
  return Buffer.concat(parts);
}

/**
 * Answers on port 53 of the address.
 *
 * @param {() => Promise<{ metadata: { name: string, namespace: string }, spec: { clusterIP?: string } }[]>} services
 *   all that there are
 */
export async function serveNames(host, services) {
  const socket = createSocket('udp4');
  const addressesNow = async () => {
    const pairs = (await services()).map(({ metadata, spec }) => [
      `${metadata.name}.${metadata.namespace}${zone}`,
      spec.clusterIP,
    ]);
    return new Map(pairs.filter(([, address]) => /^\d/.test(address ?? '')));
  };
  socket.on('message', async (message, { port, address }) => {
    const isOurs = questionOf(message)?.name.endsWith(zone) === true;
    const addresses = isOurs ? await addressesNow().catch(() => new Map()) : new Map();
    const said = answer(message, addresses);
    if (said !== undefined) socket.send(said, port, address);
  });
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, host, resolve);
  });
}
