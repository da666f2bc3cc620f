// A page with the official client of Azure Web PubSub, in the form that a bundler makes for browsers: the address comes from the
// application, `/negotiate` of the same origin.
import { WebPubSubClient, WebPubSubJsonProtocol } from '@azure/web-pubsub-client';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Joins a group, reads for a while, writes, reads again, and leaves. Returns how many messages came. */
globalThis.publish = async ({ group, texts, everyMs, readMs = 0 }) => {
  const client = new WebPubSubClient(
    { getClientAccessUrl: async () => (await (await fetch('/negotiate')).json()).url },
    { protocol: WebPubSubJsonProtocol(), autoReconnect: false },
  );
  let received = 0;
  client.on('group-message', () => (received += 1));
  const stopped = new Promise((resolve) => client.on('stopped', resolve));
  await client.start();
  await client.joinGroup(group);
  await pause(readMs);
  for (const text of texts) {
    await client.sendToGroup(group, text, 'text');
    await pause(everyMs);
  }
  await pause(readMs);
  client.stop();
  await stopped;
  return received;
};
