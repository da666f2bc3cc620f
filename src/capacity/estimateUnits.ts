/**
 * The unit of each number of `estimate --json` by its path, `[]` for each entry of a list. *Unit* is a size of
 * the service; a *ratio* is 1 where a limit is reached; sizes of 2,048 bytes are those that the published
 * tables count bandwidth in.
 */
export const estimateUnits = {
  'loads[].in_messages_per_s': 'messages/s',
  'loads[].out_messages_per_s': 'messages/s',
  'loads[].in_bytes_per_s': 'bytes/s',
  'loads[].out_bytes_per_s': 'bytes/s',
  unit: 'Unit',
  unit_listed: 'Unit',
  unit_strict: 'Unit',
  unit_guide_sum: 'Unit',
  unit_within_rounding: 'Unit',
  unit_with_server_connections: 'Unit',
  'other_edition.unit': 'Unit',
  at_unit: 'Unit',
  traffic_utilisation: 'ratio',
  connection_utilisation: 'ratio',
  app_servers: 'app servers',
  server_connections_per_app_server: 'connections',
  server_connections: 'connections',
  headroom: 'ratio',
  'limits[].load': 'messages/s, for measure bandwidth of 2,048 bytes',
  'limits[].limit': 'messages/s, for measure bandwidth of 2,048 bytes',
  'limits[].utilisation': 'ratio',
  'limits[].source.line': 'line',
  'binding.utilisation': 'ratio',
  'binding.source.line': 'line',
  'neighbours[].unit': 'Unit',
  'neighbours[].connections': 'ratio',
  'neighbours[].inbound': 'ratio',
  'neighbours[].outbound': 'ratio',
  'billing.messages_per_s': 'messages of 2 KB/s',
  'billing.messages_per_day': 'messages of 2 KB/day',
  'billing.messages_per_month': 'messages of 2 KB/30 days',
  'billing.payload_only.messages_per_s': 'messages of 2 KB/s',
  'billing.payload_only.messages_per_day': 'messages of 2 KB/day',
  'billing.payload_only.messages_per_month': 'messages of 2 KB/30 days',
} as const;

/** Of the price, which is in whatever money the prices were given in. */
export const priceUnits = {
  'price.unit': 'Unit',
  'price.hours': 'hours',
  'price.units': 'money',
  'price.messages': 'money',
  'price.total': 'money',
  price_per_month: 'money',
} as const;
