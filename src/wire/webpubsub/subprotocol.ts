/** How PubSub clients of Azure Web PubSub talk: a form of frames, with or without recovery. */
export interface Subprotocol {
  /** As in `Sec-WebSocket-Protocol`. */
  readonly name: string;
  readonly format: 'json' | 'protobuf';
  /** Messages are numbered and acknowledged, and a lost socket can be replaced. */
  readonly isReliable: boolean;
}

export const subprotocols: readonly Subprotocol[] = [
  { name: 'json.webpubsub.azure.v1', format: 'json', isReliable: false },
  { name: 'json.reliable.webpubsub.azure.v1', format: 'json', isReliable: true },
  { name: 'protobuf.webpubsub.azure.v1', format: 'protobuf', isReliable: false },
  { name: 'protobuf.reliable.webpubsub.azure.v1', format: 'protobuf', isReliable: true },
];

/** The subprotocol of that name; undefined for a name of somebody else. */
export const subprotocolNamed = (name: string): Subprotocol | undefined =>
  subprotocols.find((subprotocol) => subprotocol.name === name);
