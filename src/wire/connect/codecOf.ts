import type { Endpoint } from '../../base/endpoint';
import type { WireProtocol } from '../../base/message';
import type { classicCodec } from '../classic/classicCodec';
import { hubUnder } from '../classic/classicTarget';
import { jsonCodec, messagePackCodec, type HubCodec } from '../message/hubCodec';
import {
  plainWebPubSubCodec,
  protobufWebPubSubCodec,
  reliableProtobufWebPubSubCodec,
  reliableWebPubSubCodec,
  webPubSubCodec,
} from '../webpubsub/webPubSubCodec';

const codecs: Readonly<Record<Exclude<WireProtocol, 'classic'>, HubCodec>> = {
  json: jsonCodec,
  messagepack: messagePackCodec,
  webpubsub: webPubSubCodec,
  webpubsubReliable: reliableWebPubSubCodec,
  webpubsubNone: plainWebPubSubCodec,
  webpubsubProtobuf: protobufWebPubSubCodec,
  webpubsubReliableProtobuf: reliableProtobufWebPubSubCodec,
};

/** Absent until `loadCodec` has loaded it: few runs need it. */
let ofClassic: typeof classicCodec | undefined;

export function useClassicCodec(loaded: typeof classicCodec): void {
  ofClassic = loaded;
}

/** @param hub which messages of ASP.NET SignalR name; whoever only reads does not need it */
export function codecOf(protocol: WireProtocol, hub = ''): HubCodec {
  if (protocol !== 'classic') return codecs[protocol];
  if (ofClassic === undefined) throw new Error('the codec of ASP.NET SignalR was not loaded');
  return ofClassic(hub);
}

/** The codec of connections to an endpoint: all its hubs have one name where messages name it. */
export const codecOfHub = (protocol: WireProtocol, { urls }: Pick<Endpoint, 'urls'>): HubCodec =>
  codecOf(protocol, protocol === 'classic' ? hubUnder(urls[0]!).hub : undefined);
