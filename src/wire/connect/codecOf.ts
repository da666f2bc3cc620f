import type { WireProtocol } from '../../base/message';
import { type HubCodec, jsonCodec, messagePackCodec } from '../message/hubCodec';
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

/** @throws Error for ASP.NET SignalR, whose messages name the hub: see `codecFor` */
export function codecForProtocol(protocol: WireProtocol): HubCodec {
  if (protocol === 'classic') throw new Error('the codec of ASP.NET SignalR needs an endpoint');
  return codecs[protocol];
}
