const names = `
  target webAppTarget targetChoice connectionString service hub unit sku connectionType
  headers query accessToken identities data caFile certFile keyFile keyPassword insecureTls
  appServers serverConnections serverStickyMode upstream transport protocol subprotocol acks
  skipNegotiation connections arrivingRate arrivingBatchMode arrivingBatchWait connectTimeout
  connectInFlight repair reconnectPolicy reconnectDelay lifetime dropAllAfter baseSending step
  senderOrder sendingSteps singleStepDuration warmup drain pacing arrivals stages observe
  pushes timeToAll driver dialect workers processes localAddresses agents repeat
  unlikeRecording seed connectionFailPercentage latencyPercentage resultFilePath debug
`;

/** Names of all keys of `config`, for who must know them before what they mean is loaded: a test compares them. */
export const configNames: ReadonlySet<string> = new Set(names.trim().split(/\s+/));
