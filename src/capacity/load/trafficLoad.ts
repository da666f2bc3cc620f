import type { Traffic } from '../../usecases/traffic';
import { checkNumber, inputError } from '../tables/inputCheck';
import type { Product } from '../model';
import { isRest, kindsOf, ratesOf, tableFor, type ServiceLoad } from './serviceLoad';
import { nominalFormula } from './formula';

/**
 * Load of one use case from its senders, interval and size: r = senders / interval messages per second
 * in, r × receivers out.
 * @throws ExpectedError `estimate-input` when a field is invalid
 */
export function trafficLoad(product: Product, connections: number, traffic: Traffic): ServiceLoad {
  const { kind } = traffic;
  if (!kindsOf[product].includes(kind)) throw inputError('kind is not known for this product');
  const senders = checkNumber(traffic.senders, 'senders', { whole: true, zeroAllowed: true });
  const intervalS = checkNumber(traffic.intervalS, 'interval_s');
  checkNumber(traffic.messageBytes, 'message_bytes', { whole: true });
  if (!isRest(kind) && senders > connections) {
    throw inputError('senders must not exceed connections');
  }
  const receivers = receiversOf(traffic, connections);
  const inMessages = senders / intervalS;
  const rates = ratesOf(traffic, inMessages, inMessages * receivers);
  return {
    kind,
    table: tableFor(product, kind, receivers),
    senders,
    ...rates,
    formula: nominalFormula({ ...traffic, ...rates, receivers }),
  };
}

/** Receivers of one message. */
function receiversOf(traffic: Traffic, connections: number): number {
  switch (traffic.kind) {
    case 'broadcast':
    case 'rest_broadcast':
      return connections;
    case 'send_to_group':
    case 'rest_send_to_group': {
      const members = checkNumber(traffic.groupMembers, 'group_members', { whole: true });
      if (members > connections) throw inputError('group_members must not exceed connections');
      return members;
    }
    case 'rest_send_to_user':
      return checkNumber(traffic.connectionsPerUser ?? 1, 'connections_per_user');
    case 'echo':
    case 'send_to_connection':
    case 'upstream_echo':
      return 1;
  }
}
