/**
 * Hub messages of ASP.NET SignalR as its servers read and write them: what a client calls, answers, and calls of a
 * client. Source: `HubRequestParser`, `HubResponse` and `ClientHubInvocation` of SignalR/SignalR.
 */
import { Envelope, maxNameBytes } from '../../wire/message/envelope';
import { hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import { skipSpace, stringAt, walk } from '../../wire/message/jsonScan';
import { opcode } from '../../wire/socket/frame';
import { JsonProtocol } from '../hubProtocol/jsonProtocol';

/** As the class is called; clients write it in any case. */
export const classicHubName = 'SignalRBench';

const nothing = Buffer.alloc(0);

/** Frames are texts here: a callback is one entry of a list that each connection gets in an envelope of its own. */
class ClassicProtocol extends JsonProtocol {
  override frame(payload: Buffer): Buffer {
    return payload;
  }

  protected override carrying(head: Buffer, content: Buffer, tail: Buffer): Buffer {
    return Buffer.concat([head, content, tail]);
  }
}

/** A null id is written as such, and stands here as the empty one. */
const idText = (id: string | undefined): string => (id ? JSON.stringify(id) : 'null');

/** Members in the order of `HubResponse`; what is null is left out, except for the id. */
function encode(message: HubMessage): Buffer {
  switch (message.type) {
    case hubMessageType.invocation: {
      const { target: M, arguments: A } = message;
      return Buffer.from(JSON.stringify({ H: classicHubName, M, A }), 'utf8');
    }
    case hubMessageType.completion: {
      const { invocationId, result = null, error } = message;
      const value = result === null ? '' : `"R":${JSON.stringify(result)},`;
      const failure = error === undefined ? '' : `,"E":${JSON.stringify(error)}`;
      return Buffer.from(`{${value}"I":${idText(invocationId)}${failure}}`, 'utf8');
    }
    default:
      return Buffer.from('{}');
  }
}

/** Its ping is the keep-alive. There are no streams. */
export const classicProtocol: JsonProtocol = new ClassicProtocol(opcode.text, encode, {
  invocationHead: (target) =>
    Buffer.from(`{"H":"${classicHubName}","M":${JSON.stringify(target)},"A":`),
  pairHead: Buffer.from('['),
  invocationTail: Buffer.from('}'),
  itemHead: () => nothing,
  itemTail: nothing,
});

/** A call of a client. */
export class ClassicMessage extends Envelope {
  /** As the client wrote it. */
  hub = '';
}

/** Longest state of a client that its server reads. Source: `HubRequestParser`, `GetState`. */
const maxStateChars = 4096;

/** One call; undefined when it is malformed. Members in any order; unknown ones are skipped. */
export function readClassicMessage(bytes: Buffer): ClassicMessage | undefined {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== 0x7b) return undefined;
  const message = new ClassicMessage(bytes, 0, bytes.length);
  message.type = hubMessageType.invocation;
  const read = { id: '' as string | undefined, hasShortState: true };
  const walked = walk(bytes, open, bytes.length, (keyStart, keyEnd, start, end) => {
    switch (bytes.toString('latin1', keyStart + 1, Math.min(keyEnd - 1, keyStart + 3))) {
      case 'H':
        message.hub = nameAt(bytes, start, end) ?? '';
        break;
      case 'M':
        message.target = nameAt(bytes, start, end) ?? '';
        break;
      case 'I':
        read.id = idAt(bytes, start, end);
        break;
      case 'A':
        readArguments(message, start, end);
        break;
      case 'S':
        read.hasShortState = end - start <= maxStateChars;
        break;
    }
  });
  const isWhole = walked >= 0 && skipSpace(bytes, walked) === bytes.length;
  const isCall = message.hub !== '' && message.target !== '' && read.id !== undefined;
  message.invocationId = read.id;
  return isWhole && isCall && read.hasShortState ? message : undefined;
}

function readArguments(message: Envelope, start: number, end: number): void {
  const { bytes } = message;
  message.beginArguments(start);
  message.argumentsEnd = end;
  // Null stands for none, also where a list stood before it.
  if (bytes[start] !== 0x5b) return;
  walk(bytes, start, end, (_keyStart, _keyEnd, valueStart, valueEnd) =>
    message.foundArgument(valueStart, valueEnd),
  );
}

const nameAt = (bytes: Buffer, start: number, end: number): string | undefined =>
  bytes[start] === 0x22 && end - start <= maxNameBytes ? stringAt(bytes, start, end) : undefined;

/** Clients write numbers or texts; it goes back as text. */
function idAt(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] === 0x22) return nameAt(bytes, start, end);
  const text = bytes.toString('latin1', start, Math.min(end, start + 24));
  if (text === 'null') return '';
  return /^-?[0-9]{1,20}$/.test(text) ? text : undefined;
}
