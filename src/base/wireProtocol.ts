/**
 * How messages are written: the two hub protocols, or Azure Web PubSub's JSON, the same with recovery,
 * bare payloads, its protobuf, or that with recovery.
 */
export type WireProtocol =
  | 'json'
  | 'messagepack'
  | 'webpubsub'
  | 'webpubsubReliable'
  | 'webpubsubNone'
  | 'webpubsubProtobuf'
  | 'webpubsubReliableProtobuf';
