import { opcode } from '../../../src/wire/socket/frame';
import { serverFrame } from '../../fakes/frames';

/**
 * The cases of the Autobahn test suite for WebSocket clients under their numbers, as far as they concern
 * a client that agrees to no extension (1 to 7, and the sizes of 9). What they ask for is RFC 6455.
 */

export interface WebSocketCase {
  readonly number: string;
  readonly what: string;
  /** What the server sends. */
  readonly bytes: Buffer;
  /** Messages that arrive, as text. */
  readonly messages?: readonly string[];
  /** The newest ping that is answered; undefined where none is. */
  readonly ping?: string;
  /** Code of the client's close frame; that of the server's, 1000, when absent. */
  readonly code?: number;
  /** Bytes that are sent at once. */
  readonly step?: number;
}

const { text, binary, continuation, ping, pong, close } = opcode;
const frame = (code: number, payload: string | Buffer = '', last = true): Buffer =>
  serverFrame(code, Buffer.from(payload as string), { last });
const first = (code: number, payload: string | Buffer): Buffer => frame(code, payload, false);
const part = (payload: string | Buffer): Buffer => frame(continuation, payload, false);
const end = (payload: string | Buffer): Buffer => frame(continuation, payload);
const closing = (code: number, reason: string | Buffer = ''): Buffer =>
  frame(
    close,
    Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason as string)]),
  );
export const normalClose = closing(1000);
const bye = normalClose;
const all = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
/** The same frame with other bits in its first byte. */
const withBits = (bytes: Buffer, bits: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[0]! |= bits;
  return changed;
};

const sizes = [0, 125, 126, 127, 128, 65_535, 65_536];
const sized = (kind: 1 | 2, code: number): WebSocketCase[] =>
  [...sizes.map((size, at) => [size, at + 1, undefined] as const), [65_536, 8, 997] as const].map(
    ([size, at, step]) => {
      const message = '*'.repeat(size);
      return {
        number: `1.${kind}.${at}`,
        what: `${code === text ? 'text' : 'binary'} of ${size} bytes${step ? ', in pieces' : ''}`,
        bytes: all(frame(code, message), bye),
        messages: [message],
        ...(step !== undefined && { step }),
      };
    },
  );

const tenLetters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const pings: WebSocketCase[] = [
  ['2.1', 'empty', frame(ping), ''],
  ['2.2', 'of text', frame(ping, 'Hello, world!'), 'Hello, world!'],
  ['2.3', 'of bytes', frame(ping, Buffer.from([0, 0xff, 0xfe, 0xfd])), '\x00\xff\xfe\xfd'],
  ['2.4', 'of 125 bytes', frame(ping, 'x'.repeat(125)), 'x'.repeat(125)],
  ['2.6', 'byte by byte', frame(ping, 'x'.repeat(125)), 'x'.repeat(125), 1],
  ['2.7', 'none, but an empty pong', frame(pong), undefined],
  ['2.8', 'none, but a pong', frame(pong, 'unsolicited'), undefined],
  ['2.9', 'behind a pong', all(frame(pong, 'unsolicited'), frame(ping, 'own')), 'own'],
  ['2.10', 'ten', all(...[...tenLetters].map((each) => frame(ping, each))), 'j'],
  ['2.11', 'ten, byte by byte', all(...[...tenLetters].map((each) => frame(ping, each))), 'j', 1],
].map(([number, what, bytes, answered, step]) => ({
  number: number as string,
  what: `pings: ${what as string}`,
  bytes: bytes as Buffer,
  ...(answered !== undefined && { ping: answered as string }),
  ...(step !== undefined && { step: step as number }),
}));

const hello = 'Hello, world!';
const reserved: WebSocketCase[] = [1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  number: `3.${bits}`,
  what: `reserved bits ${bits}`,
  bytes: all(
    frame(text, hello),
    withBits(
      bits > 4 ? frame(bits === 5 ? binary : bits === 6 ? ping : close, '') : frame(text, hello),
      bits << 4,
    ),
    frame(ping),
  ),
  messages: [hello],
  code: 1002,
}));
const opcodes: WebSocketCase[] = [3, 4, 5, 6, 7, 0xb, 0xc, 0xd, 0xe, 0xf].map((code) => ({
  number: code < 8 ? `4.1.${code - 2}` : `4.2.${code - 10}`,
  what: `opcode ${code}`,
  bytes: all(frame(text, hello), frame(code, code % 2 === 0 ? hello : ''), frame(ping)),
  messages: [hello],
  code: 1002,
}));

const halves = [first(text, 'fragment1'), end('fragment2')] as const;
const whole = ['fragment1fragment2'];
const fragments: WebSocketCase[] = [
  { number: '2.5', what: 'a ping of 126 bytes', bytes: frame(ping, 'x'.repeat(126)), code: 1002 },
  {
    number: '5.1',
    what: 'a ping in fragments',
    bytes: all(first(ping, 'a'), end('b')),
    code: 1002,
  },
  {
    number: '5.2',
    what: 'a pong in fragments',
    bytes: all(first(pong, 'a'), end('b')),
    code: 1002,
  },
  { number: '5.3', what: 'two fragments', bytes: all(...halves, bye), messages: whole },
  {
    number: '5.5',
    what: 'two fragments, byte by byte',
    bytes: all(...halves, bye),
    messages: whole,
    step: 1,
  },
  {
    number: '5.6',
    what: 'a ping between fragments',
    bytes: all(halves[0], frame(ping, 'in'), halves[1]),
    messages: whole,
    ping: 'in',
  },
  {
    number: '5.8',
    what: 'a ping between fragments, byte by byte',
    bytes: all(halves[0], frame(ping, 'in'), halves[1]),
    messages: whole,
    ping: 'in',
    step: 1,
  },
  {
    number: '5.9',
    what: 'a last fragment without a first',
    bytes: all(end('no'), frame(text, hello)),
    code: 1002,
  },
  {
    number: '5.12',
    what: 'a fragment without a first',
    bytes: all(part('no'), frame(text, hello)),
    code: 1002,
  },
  {
    number: '5.15',
    what: 'a fragment behind a whole message',
    bytes: all(...halves, part('no'), frame(text, hello)),
    messages: whole,
    code: 1002,
  },
  {
    number: '5.18',
    what: 'two first fragments',
    bytes: all(first(text, 'a'), frame(text, 'b')),
    code: 1002,
  },
  {
    number: '5.19',
    what: 'five fragments with two pings',
    bytes: all(
      first(text, 'a'),
      part('b'),
      frame(ping, '1'),
      part('c'),
      part('d'),
      frame(ping, '2'),
      end('e'),
    ),
    messages: ['abcde'],
    ping: '2',
  },
  { number: '6.1.1', what: 'empty text', bytes: all(frame(text), bye), messages: [''] },
  {
    number: '6.1.2',
    what: 'three empty fragments',
    bytes: all(first(text, ''), part(''), end(''), bye),
    messages: [''],
  },
  {
    number: '6.1.3',
    what: 'a fragment between empty ones',
    bytes: all(first(text, ''), part('middle'), end(''), bye),
    messages: ['middle'],
  },
];

const utf8 = 'Hello-µ@ßöäüàá-UTF-8!!';
/** 6.5 to 6.23: borders of each length, and characters that are none. */
const validTexts = [
  utf8,
  'κόσμε',
  ...[0, 0x80, 0x800, 0x10000, 0x7f, 0x7ff, 0xffff, 0x10ffff, 0xd7ff, 0xe000, 0xfffd, 0xfffe].map(
    (point) => String.fromCodePoint(point),
  ),
];
const invalidTexts = [
  ...['cebae1bdb9cf83cebcceb5eda080656469746564', 'cebae1bdb9cf83cebcceb5f4908080656469746564'],
  ...['f8', 'f888808080', 'fc8480808080', 'f7bfbfbf', 'fbbfbfbfbf', 'fdbfbfbfbfbf', 'f4908080'],
  ...[
    '80',
    'bf',
    '80bf',
    '80bf80bf80bf',
    'c020',
    'c120',
    'e020',
    'ef20',
    'f020',
    'f720',
    'fe',
    'ff',
  ],
  ...[
    'c0',
    'e080',
    'f08080',
    'df',
    'efbf',
    'f7bfbf',
    'c0af',
    'e080af',
    'f08080af',
    'c080',
    'e08080',
  ],
  ...['c1bf', 'e09fbf', 'f08fbfbf', 'eda080', 'edafbf', 'edb080', 'edbfbf', 'eda080edb080', 'fefe'],
].map((hex) => Buffer.from(hex, 'hex'));
const texts: WebSocketCase[] = [
  { number: '6.2.1', what: 'UTF-8', bytes: all(frame(text, utf8), bye), messages: [utf8] },
  {
    number: '6.2.3',
    what: 'UTF-8 in fragments of a byte',
    bytes: all(
      first(text, ''),
      ...[...Buffer.from(utf8)].map((byte) => part(Buffer.from([byte]))),
      end(''),
      bye,
    ),
    messages: [utf8],
  },
  ...validTexts.map((each, at) => ({
    number: `6.5/${at}`,
    what: `UTF-8 ${Buffer.from(each).toString('hex')}`,
    bytes: all(frame(text, each), bye),
    messages: [each],
  })),
  ...invalidTexts.flatMap((each, at) => [
    {
      number: `6.6/${at}`,
      what: `no UTF-8 ${each.toString('hex')}`,
      bytes: frame(text, each),
      code: 1007,
    },
    {
      number: `6.4/${at}`,
      what: `no UTF-8 ${each.toString('hex')} in fragments`,
      bytes: all(first(text, each.subarray(0, 1)), end(each.subarray(1)), bye),
      code: 1007,
    },
  ]),
  {
    number: '-',
    what: 'anything in a binary message',
    bytes: all(frame(binary, invalidTexts[0]), bye),
    messages: [invalidTexts[0]!.toString('utf8')],
  },
];

const goodCodes = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
const badCodes = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535];
const closes: WebSocketCase[] = [
  {
    number: '7.1.1',
    what: 'a message before the close',
    bytes: all(frame(text, hello), bye),
    messages: [hello],
  },
  { number: '7.1.2', what: 'two closes', bytes: all(bye, closing(1001)) },
  { number: '7.1.3', what: 'a ping behind the close', bytes: all(bye, frame(ping)) },
  { number: '7.1.4', what: 'a message behind the close', bytes: all(bye, frame(text, hello)) },
  { number: '7.1.5', what: 'a close between fragments', bytes: all(halves[0], bye, halves[1]) },
  {
    number: '7.1.6',
    what: 'a close behind 256 KB',
    bytes: all(frame(text, 'x'.repeat(262_144)), bye, frame(ping)),
    messages: ['x'.repeat(262_144)],
  },
  { number: '7.3.1', what: 'a close without a code', bytes: frame(close), code: 1005 },
  {
    number: '7.3.2',
    what: 'a close with half a code',
    bytes: frame(close, Buffer.from([3])),
    code: 1002,
  },
  { number: '7.3.3', what: 'a close with a code', bytes: bye },
  { number: '7.3.4', what: 'a close with a reason', bytes: closing(1000, hello) },
  {
    number: '7.3.5',
    what: 'a close with a reason of 123 bytes',
    bytes: closing(1000, 'x'.repeat(123)),
  },
  {
    number: '7.3.6',
    what: 'a close with a reason of 124 bytes',
    bytes: closing(1000, 'x'.repeat(124)),
    code: 1002,
  },
  {
    number: '7.5.1',
    what: 'a close whose reason is no UTF-8',
    bytes: closing(1000, invalidTexts[0]),
    code: 1007,
  },
  ...goodCodes.map((code, at) => ({
    number: `7.7.${at + 1}`,
    what: `close code ${code}`,
    bytes: closing(code),
    code,
  })),
  ...badCodes.map((code, at) => ({
    number: `7.9.${at + 1}`,
    what: `close code ${code}`,
    bytes: closing(code),
    code: 1002,
  })),
  {
    number: '7.13',
    what: 'close code 1012, which the registry has',
    bytes: closing(1012),
    code: 1012,
  },
  {
    number: '9.1',
    what: '512 KB in 1,024 fragments',
    bytes: all(
      first(text, 'x'.repeat(512)),
      ...Array<Buffer>(1022).fill(part('x'.repeat(512))),
      end('x'.repeat(512)),
      bye,
    ),
    messages: ['x'.repeat(524_288)],
  },
  {
    number: '9.2',
    what: 'more than the limit',
    bytes: all(frame(binary, 'x'.repeat(1_000_001)), bye),
    code: 1009,
  },
  {
    number: '9.3',
    what: 'more than the limit in fragments',
    bytes: all(first(binary, 'x'.repeat(600_000)), end('x'.repeat(600_000)), bye),
    code: 1009,
  },
];

export const webSocketCases: readonly WebSocketCase[] = [
  ...sized(1, text),
  ...sized(2, binary),
  ...pings,
  ...reserved,
  ...opcodes,
  ...fragments,
  ...texts,
  ...closes,
];
