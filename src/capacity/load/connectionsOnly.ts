import type { Product } from '../model';
import type { Traffic } from '../../usecases/traffic';

/**
 * Stands for connections that send nothing. The estimate needs at least one use case; the plainest one
 * of each product without senders has no traffic, so the connections alone decide.
 */
export function connectionsOnly(product: Product): Traffic {
  return {
    kind: product === 'webpubsub' ? 'upstream_echo' : 'echo',
    senders: 0,
    intervalS: 1,
    messageBytes: 2048,
  };
}
