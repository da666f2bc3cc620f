// REST calls to Azure Web PubSub by the official service client, to everybody or to a group.
import { WebPubSubServiceClient } from '@azure/web-pubsub';
import { repeatedCalls } from '../repeatedCalls.mjs';
import { stampText } from '../stamp.mjs';

/** See bench/README.md, *A client*. */
export function open(options) {
  const { url, protocol: receiver, blob } = options;
  const service = new WebPubSubServiceClient(url, 'bench', { allowInsecureConnection: true });
  const to = receiver === 'group' ? service.group('group') : service;
  return repeatedCalls(options, (sentUs) =>
    to.sendToAll({ 'payload.Timestamp': stampText(sentUs), 'payload.MessageBlob': blob }),
  );
}
