import { isUtf8 } from 'node:buffer';
import { recordSeparator } from '../../wire/hub/hubMessage';
import { jsonProtocol } from '../hubProtocol/jsonProtocol';
import { skipSpace, stringAt, walk } from '../../wire/hub/jsonScan';
import { messagePackProtocol } from '../hubProtocol/messagePackProtocol';
import type { FrameSource } from './serviceHub';

/** A message given as JSON; it is written once for each hub protocol that a receiver speaks. */
class RestMessage implements FrameSource {
  private readonly frames = new Map<string, Buffer | undefined>();

  constructor(
    private readonly target: string,
    /** The list of arguments as it came. */
    private readonly bytes: Buffer,
  ) {}

  in(protocolName: string): Buffer | undefined {
    if (!this.frames.has(protocolName)) this.frames.set(protocolName, this.frameIn(protocolName));
    return this.frames.get(protocolName);
  }

  private frameIn(protocolName: string): Buffer | undefined {
    const { target, bytes } = this;
    if (protocolName === jsonProtocol.name) {
      return jsonProtocol.invocationFrame(target, bytes, 0, bytes.length);
    }
    if (protocolName !== messagePackProtocol.name) return undefined;
    const encoded = messagePackProtocol.encodeArguments(JSON.parse(bytes.toString('utf8')));
    return messagePackProtocol.invocationFrame(target, encoded, 0, encoded.length);
  }
}

const noArguments = Buffer.from('[]');

/**
 * Reads the body `{"target":"name","arguments":[…]}` of a send.
 * @returns what is wrong with it, when it is none
 */
export function readRestMessage(body: Buffer): FrameSource | string {
  if (!isUtf8(body)) return 'The body is no UTF-8 text.';
  // It ends a message of the hub protocol, and is not allowed in JSON anyway.
  if (body.includes(recordSeparator)) return 'The body is no JSON.';
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return 'The body is no JSON.';
  }
  if (typeof parsed !== 'object' || parsed === null) return 'The body is no JSON object.';
  let target: string | undefined;
  let list: Buffer | undefined;
  const end = walk(body, skipSpace(body, 0), body.length, (keyStart, keyEnd, start, valueEnd) => {
    // .NET reads member names in any case.
    const key = stringAt(body, keyStart, keyEnd).toLowerCase();
    if (key === 'target' && body[start] === 0x22) target = stringAt(body, start, valueEnd);
    if (key === 'arguments') list = body.subarray(start, valueEnd);
  });
  if (end < 0) return 'The body is nested too deeply.';
  if (target === undefined || target === '') return 'The body has no target.';
  const bytes = list === undefined || list.equals(Buffer.from('null')) ? noArguments : list;
  if (bytes[0] !== 0x5b) return 'The arguments are no list.';
  return new RestMessage(target, bytes);
}
