/** Keys of what `observe` lists. */
import { listOf } from '../../usecases/parameters';
import { keyOf, text } from './keySpec';

const count = keyOf('count');

export const observeKeys = listOf({
  prometheus: text(
    { references: true, optional: true },
    'URL of an endpoint of the server that answers with metrics in the Prometheus text format, such as `http://localhost:5000/metrics`. It is read once a second.',
  ),
  authorization: text(
    { references: true, optional: true },
    'Value of the header `Authorization` for it, such as `Bearer ${secret:metrics}`.',
  ),
  series: text(
    { optional: true },
    'Further series to keep, by their names with `*` for any part, separated by commas: `orders_*, cache_hits_total`. CPU, memory, garbage collection, the queue and threads of the thread pool and connections are known by themselves.',
  ),
  azureMonitor: text(
    { references: true, optional: true },
    'Resource of Azure SignalR Service or Azure Web PubSub whose metrics are read from Azure Monitor: its resource id, `/subscriptions/…/SignalR/NAME`.',
  ),
  region: text({ optional: true }, 'Region of that resource, such as `westeurope`.'),
  eventPipe: count(
    { optional: true, range: [1, 4_194_304] },
    'Not read: give the server an endpoint for `prometheus` instead.',
  ),
});
export const mostObserved = 10;

/** Each with the key that it is recognised by, and what further keys belong to it. */
export const observeKinds = {
  prometheus: ['authorization', 'series'],
  azureMonitor: ['region'],
} as const;
