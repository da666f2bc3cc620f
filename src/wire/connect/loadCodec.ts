import type { Endpoint } from '../../base/endpoint';
import type { WireProtocol } from '../../base/message';
import { classicCodec } from '../classic/classicCodec';
import { hubUnder } from '../classic/classicNegotiation';
import type { HubCodec } from '../message/hubCodec';
import { codecOf } from './codecOf';

/**
 * The codec of connections to an endpoint: all its hubs have one name where messages name it. That of a protocol which few
 * runs speak is loaded; `codecOf` has the others.
 */
export async function loadCodec(
  protocol: WireProtocol,
  { urls }: Pick<Endpoint, 'urls'>,
): Promise<HubCodec> {
  if (protocol !== 'classic') return codecOf(protocol);
  return classicCodec(hubUnder(urls[0]!).hub);
}
