import { opcode } from '../../wire/socket/frame';
import type { Payloads } from '../../wire/service/serviceMessage';
import { serverFrame } from '../hubProtocol/serverFrame';
import type { FrameSource } from './serviceHub';

/** What an app server sends to many clients: one whole hub frame for each hub protocol. */
export class PayloadSource implements FrameSource {
  private readonly frames = new Map<string, Buffer>();

  constructor(private readonly payloads: Payloads = []) {}

  in(protocolName: string): Buffer | undefined {
    const known = this.frames.get(protocolName);
    if (known !== undefined) return known;
    const payload = this.payloads.find(([name]) => name === protocolName)?.[1];
    if (payload === undefined || payload.length === 0) return undefined;
    const frame = serverFrame(protocolName === 'json' ? opcode.text : opcode.binary, payload);
    this.frames.set(protocolName, frame);
    return frame;
  }
}
