// Our engine as members of groups of Azure Web PubSub, one in each: with its prepared messages and its receiver
// with all its counting. Only the pacing is left out: each message that comes sends the next.
import { closedPlan } from '../../out/src/engine/calibrate/roundTrips.js';
import { AccessTokens } from '../../out/src/wire/connect/accessTokens.js';
import { codecForProtocol, connectHub } from '../../out/src/wire/connect/connectHub.js';
import { recordLatencyShape } from '../../out/src/wire/message/messageLayout.js';
import { Invocations } from '../../out/src/wire/hub/clientConnection.js';
import { holeLengths, MessageTemplate } from '../../out/src/wire/message/messageTemplate.js';
import { SocketAgents } from '../../out/src/wire/socket/socket.js';
import { counting, limits, listener, webPubSubEndpoint } from '../engineParts.mjs';

/** See bench/README.md, *A client*. */
export async function open({ url, connections, protocol, batch, blob, nowUs, record }) {
  const name = protocol === 'reliable' ? 'webpubsubReliable' : 'webpubsub';
  const codec = codecForProtocol(name);
  const plan = closedPlan(connections, name, 'sendToGroup', {
    messageSize: blob.length,
    groupCount: connections,
    groupsPerConnection: 1,
  });
  const invocations = new Invocations();
  const { step, stamp, populations, count } = counting(plan, (connection, message) => {
    if (message.type === 3) invocations.completed(connection, message);
  });
  const states = Array.from({ length: connections }, (_, index) => {
    const group = populations[0].groupName(index);
    return { group, receiver: Buffer.from(group), sequence: 0, sentUs: 0 };
  });
  const templates = new Map();
  const templateFor = ({ receiver }) => {
    let template = templates.get(receiver.length);
    if (template === undefined) {
      const shape = recordLatencyShape({ method: 'SendToGroup', blob });
      template = MessageTemplate.of(shape, holeLengths(receiver), codec);
      templates.set(receiver.length, template);
    }
    return template;
  };
  const send = (connection) => {
    const state = states[connection.index];
    const template = templateFor(state);
    stamp.source = connection.index;
    stamp.sequence = state.sequence++;
    stamp.intendedUs = stamp.sentUs = state.sentUs = nowUs();
    if (!connection.send(template.fill(stamp, state.receiver, Date.now()))) template.detach();
  };
  const received = (connection, buffer, start, end, frameBytes) => {
    const now = nowUs();
    if (count(connection, buffer, start, end, frameBytes, now) === 0) return;
    record(now - states[connection.index].sentUs);
    send(connection);
  };

  const endpoint = await webPubSubEndpoint(url);
  const context = {
    endpoint,
    agents: new SocketAgents(endpoint, 1),
    tokens: new AccessTokens(endpoint.service, 0, ['joinGroups', 'sendToGroups']),
    listener: listener(received),
    options: { ...limits, codec },
  };
  let next = 0;
  const all = await batch(connections, async () => {
    const connection = await connectHub(next++, context, new AbortController().signal);
    const args = [states[connection.index].group];
    const joined = await invocations.invoke(connection, 'JoinGroup', args, 10_000);
    if (!joined.ok) throw new Error(joined.text);
    return connection;
  });
  return {
    start() {
      for (const connection of all) send(connection);
    },
    roundTrips: () => step.received,
  };
}
