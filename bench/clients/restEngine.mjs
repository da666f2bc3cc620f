// Our REST calls to Azure Web PubSub as a run makes them, to everybody or to a group.
import { recordLatencyShape } from '../../out/src/wire/message/messageLayout.js';
import { RestCalls } from '../../out/src/wire/rest/restCalls.js';
import { emptyStamp } from '../../out/src/wire/message/stamp.js';
import { webPubSubEndpoint } from '../engineParts.mjs';
import { repeatedCalls } from '../repeatedCalls.mjs';

/** See bench/README.md, *A client*. */
export async function open(options) {
  const { url, protocol: receiver, blob } = options;
  const endpoint = await webPubSubEndpoint(url);
  const calls = new RestCalls(endpoint, endpoint.service);
  const template = calls.template(recordLatencyShape({ method: 'RecordLatency', blob }));
  const to = receiver === 'group' ? { kind: 'group', group: 'group' } : { kind: 'all' };
  const stamp = Object.assign(emptyStamp(), { runId: 1, step: 1 });
  return repeatedCalls(options, async (sentUs) => {
    stamp.intendedUs = stamp.sentUs = sentUs;
    stamp.sequence++;
    const body = template.fill(stamp, undefined, Date.now());
    template.detach();
    const failure = await calls.sent(to, body);
    if (failure !== undefined) throw new Error(failure.text);
  });
}
