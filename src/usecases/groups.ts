import { numberOf, type Parameters, type ParameterSpec } from './parameterSpec';

/** Parameters of the use cases that send to groups. */
export const groupParameters: readonly ParameterSpec[] = [
  {
    name: 'groupCount',
    type: 'count',
    required: true,
    minimum: 1,
    maximum: 10_000_000,
    summary: 'Number of groups; connection i joins group i mod groupCount.',
    seedNote:
      'The Azure SignalR benchmark failed at leaving when the groups did not divide the connections.',
  },
  {
    name: 'groupsPerConnection',
    type: 'count',
    default: 1,
    minimum: 1,
    maximum: 1000,
    summary: 'Groups each connection joins: its own and the ones that follow it.',
    seedNote:
      'The Azure SignalR benchmark let connections join several groups only when there were more groups than connections.',
  },
  {
    name: 'sendersPer',
    type: 'choice',
    default: 'connection',
    choices: ['connection', 'group'],
    summary:
      'How senders are chosen: `connection` spreads them over all connections at random, `group` deals them over the groups in turn.',
    seedNote: 'In simple mode the Azure SignalR benchmark always chose by connection.',
  },
];

/**
 * Members of the largest group. Connection i joins `groupsPerConnection` groups from group
 * i mod groupCount on, so sizes differ when the groups do not divide the connections.
 */
export function largestGroup(parameters: Parameters, connections: number): number {
  const groupCount = numberOf(parameters, 'groupCount');
  const perConnection = Math.min(numberOf(parameters, 'groupsPerConnection'), groupCount);
  return (
    perConnection * Math.floor(connections / groupCount) +
    Math.min(connections % groupCount, perConnection)
  );
}
