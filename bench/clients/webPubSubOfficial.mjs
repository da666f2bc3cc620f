// The official client of Azure Web PubSub, used as its documentation shows; nobody waits for acks of messages.
import { WebPubSubServiceClient } from '@azure/web-pubsub';
import {
  WebPubSubClient,
  WebPubSubJsonProtocol,
  WebPubSubJsonReliableProtocol,
} from '@azure/web-pubsub-client';
import { stampText } from '../stamp.mjs';

const roles = ['webpubsub.joinLeaveGroup', 'webpubsub.sendToGroup'];

/** See bench/README.md, *A client*. */
export async function open({ url, connections, protocol, batch, blob, nowUs, record }) {
  const service = new WebPubSubServiceClient(url, 'bench', { allowInsecureConnection: true });
  let roundTrips = 0;
  let next = 0;

  const send = ({ client, group }) => {
    const message = { 'payload.Timestamp': stampText(nowUs()), 'payload.MessageBlob': blob };
    // A client that is closing refuses; the missing round trips show it.
    client.sendToGroup(group, message, 'json', { fireAndForget: true }).catch(() => {});
  };

  const openOne = async () => {
    const group = `group${next++}`;
    const access = await service.getClientAccessToken({ roles });
    const client = new WebPubSubClient(access.url, {
      protocol: protocol === 'reliable' ? WebPubSubJsonReliableProtocol() : WebPubSubJsonProtocol(),
    });
    client.on('group-message', ({ message }) => {
      roundTrips++;
      record(nowUs() - Number(message.data['payload.Timestamp']));
      send({ client, group });
    });
    await client.start();
    await client.joinGroup(group);
    return { client, group };
  };

  const all = await batch(connections, openOne);
  return {
    start() {
      for (const one of all) send(one);
    },
    roundTrips: () => roundTrips,
  };
}
