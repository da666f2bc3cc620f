/**
 * The methods of both bench contracts. Those with arguments are called without any: the hub then refuses
 * the call instead of carrying it out, but the refusal tells whether the method exists.
 */
export const recordLatencyMethods: readonly string[] = [
  'Echo',
  'Broadcast',
  'SendToClient',
  'SendToGroup',
  'JoinGroup',
  'LeaveGroup',
  'StreamingEcho',
  'StreamingUpload',
  'StreamingDownload',
  'ConnectionId',
  'GetConnectionId',
];
export const measureMethods: readonly string[] = [
  'Echo',
  'Broadcast',
  'SendToConnection',
  'GroupBroadcast',
  'JoinGroup',
  'LeaveGroup',
];
/** Methods by which a hub of the newer contract is known. */
export const onlyMeasure: readonly string[] = ['SendToConnection', 'GroupBroadcast'];
