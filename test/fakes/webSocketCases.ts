import { opcode } from '../../src/wire/socket/frame';

/**
 * The cases of the Autobahn test suite (0.8) under their numbers, for either side of a WebSocket; what they ask for is
 * RFC 6455. Its sizes in group 9 are divided by 16, and texts that are no UTF-8 are found at the end of a message.
 */
export interface WebSocketCase {
  readonly number: string;
  readonly what: string;
  readonly frames: readonly Frame[];
  /** How they are written: all at once, frame by frame, or so many bytes at a time. */
  readonly chop?: 'frames' | number;
  /** Messages that arrive, in Latin-1. */
  readonly messages: readonly string[];
  /** Payloads of the pings that are answered. */
  readonly pings: readonly string[];
  /** Code of the close frame that comes back; 1005 stands for none. */
  readonly code: number;
}

export interface Frame {
  readonly code: number;
  readonly payload: Buffer;
  readonly last: boolean;
  /** The three reserved bits. */
  readonly reserved: number;
}

const { text, binary, continuation, ping, pong, close } = opcode;
const bytesOf = (payload: string | Buffer): Buffer =>
  typeof payload === 'string' ? Buffer.from(payload) : payload;
const frame = (code: number, payload: string | Buffer = '', reserved = 0): Frame => ({
  ...{ code, payload: bytesOf(payload), last: true, reserved },
});
const first = (code: number, payload: string | Buffer): Frame => ({
  ...frame(code, payload),
  last: false,
});
const part = (payload: string | Buffer): Frame => first(continuation, payload);
const end = (payload: string | Buffer): Frame => frame(continuation, payload);
const closing = (code: number, reason: string | Buffer = ''): Frame =>
  frame(close, Buffer.concat([Buffer.from([code >> 8, code & 255]), bytesOf(reason)]));
const bye = closing(1000);
const inParts = (code: number, parts: readonly (string | Buffer)[]): Frame[] =>
  parts.map((payload, at) => ({
    ...frame(at === 0 ? code : continuation, payload),
    last: at === parts.length - 1,
  }));
const cut = (payload: Buffer, length: number): Buffer[] =>
  Array.from({ length: Math.ceil(payload.length / length) }, (_, at) =>
    payload.subarray(at * length, (at + 1) * length),
  );

type Expected = Partial<Pick<WebSocketCase, 'chop' | 'messages' | 'pings' | 'code'>>;

/** One that ends in order, by a close frame behind it. */
const good = (number: string, what: string, frames: readonly Frame[], expected: Expected = {}) =>
  one(number, what, [...frames, bye], expected);

/** One that breaks the protocol. */
const bad = (number: string, what: string, frames: readonly Frame[], expected: Expected = {}) =>
  one(number, what, frames, { code: 1002, ...expected });

const one = (
  number: string,
  what: string,
  frames: readonly Frame[],
  expected: Expected,
): WebSocketCase => ({ number, what, frames, messages: [], pings: [], code: 1000, ...expected });

const latin1 = (payload: string | Buffer): string => bytesOf(payload).toString('latin1');
const names: Readonly<Record<number, string>> = { [text]: 'text', [binary]: 'binary' };

const framing = [text, binary].flatMap((code, group) =>
  [0, 125, 126, 127, 128, 65_535, 65_536, 65_536].map((size, at) => {
    const message = '*'.repeat(size);
    const chop = at === 7 ? { chop: 997 } : {};
    const what = `${names[code]} of ${size} bytes${at === 7 ? ', in pieces of 997' : ''}`;
    const expected = { messages: [message], ...chop };
    return good(`1.${group + 1}.${at + 1}`, what, [frame(code, message)], expected);
  }),
);

const ten = Array.from({ length: 10 }, (_, at) => `payload-${at}`);
const bytes125 = Buffer.alloc(125, 0xfe);
const someBytes = Buffer.from('00fffefdfcfb00ff', 'hex');
const pings = [
  good('2.1', 'a ping without payload', [frame(ping)], { pings: [''] }),
  good('2.2', 'a ping with text', [frame(ping, 'Hello, world!')], { pings: ['Hello, world!'] }),
  good('2.3', 'a ping with bytes', [frame(ping, someBytes)], { pings: [latin1(someBytes)] }),
  good('2.4', 'a ping of 125 bytes', [frame(ping, bytes125)], { pings: [latin1(bytes125)] }),
  bad('2.5', 'a ping of 126 bytes', [frame(ping, Buffer.alloc(126, 0xfe))]),
  good('2.6', 'a ping of 125 bytes, byte by byte', [frame(ping, bytes125)], {
    ...{ pings: [latin1(bytes125)], chop: 1 },
  }),
  good('2.7', 'a pong nobody asked for, empty', [frame(pong)]),
  good('2.8', 'a pong nobody asked for', [frame(pong, 'unsolicited')]),
  good('2.9', 'such a pong, then a ping', [frame(pong, 'unsolicited'), frame(ping, 'own')], {
    pings: ['own'],
  }),
  good(
    '2.10',
    'ten pings',
    ten.map((each) => frame(ping, each)),
    { pings: ten },
  ),
  good(
    '2.11',
    'ten pings, byte by byte',
    ten.map((each) => frame(ping, each)),
    { pings: ten, chop: 1 },
  ),
];

const hello = 'Hello, world!';
const known = { messages: [hello] };
const reserved = [
  bad('3.1', 'reserved bits 1 in a text', [frame(text, hello, 1)]),
  bad(
    '3.2',
    'reserved bits 2, behind a text',
    [frame(text, hello), frame(text, hello, 2), frame(ping)],
    known,
  ),
  bad(
    '3.3',
    'reserved bits 3, frame by frame',
    [frame(text, hello), frame(text, hello, 3), frame(ping)],
    {
      ...known,
      chop: 'frames',
    },
  ),
  bad(
    '3.4',
    'reserved bits 4, byte by byte',
    [frame(text, hello), frame(text, hello, 4), frame(ping)],
    {
      ...known,
      chop: 1,
    },
  ),
  bad('3.5', 'reserved bits 5 in a binary message', [frame(binary, someBytes, 5)]),
  bad('3.6', 'reserved bits 6 in a ping', [frame(ping, hello, 6)]),
  bad('3.7', 'reserved bits 7 in a close', [frame(close, '', 7)]),
];

const opcodes = [3, 11].flatMap((lowest, group) =>
  [0, 1, 2, 3, 4].map((more) => {
    const code = lowest + more;
    const number = `4.${group + 1}.${more + 1}`;
    const unknown = frame(code, more % 2 === 1 ? hello : '');
    const what = `opcode ${code}${more === 4 ? ', byte by byte' : ''}`;
    if (more < 2) return bad(number, what, [unknown]);
    return bad(number, `${what}, behind a text`, [frame(text, hello), unknown, frame(ping)], {
      ...known,
      ...(more === 4 && { chop: 1 }),
    });
  }),
);

const halves = inParts(text, ['fragment1', 'fragment2']);
const whole = { messages: ['fragment1fragment2'] };
const chops = [
  ['', {}],
  [', frame by frame', { chop: 'frames' }],
  [', byte by byte', { chop: 1 }],
] as const;
const inEachWay = (
  from: number,
  make: (number: string, words: string, chop: Expected) => WebSocketCase,
): WebSocketCase[] => chops.map(([words, chop], at) => make(`5.${from + at}`, words, chop));
const pinged = [halves[0]!, frame(ping, 'in'), halves[1]!];
const [one1, one2, one3, one4, one5] = inParts(text, ['a', 'b', 'c', 'd', 'e']);
const withPings = [one1!, one2!, frame(ping, '1'), one3!, one4!, frame(ping, '2'), one5!];
const fragments = [
  bad('5.1', 'a ping in two fragments', inParts(ping, ['a', 'b'])),
  bad('5.2', 'a pong in two fragments', inParts(pong, ['a', 'b'])),
  ...inEachWay(3, (number, words, chop) =>
    good(number, `a text in two fragments${words}`, halves, { ...whole, ...chop }),
  ),
  ...inEachWay(6, (number, words, chop) =>
    good(number, `a ping between two fragments${words}`, pinged, {
      ...{ ...whole, pings: ['in'] },
      ...chop,
    }),
  ),
  ...inEachWay(9, (number, words, chop) =>
    bad(number, `a last fragment without a first${words}`, [end('no'), frame(text, hello)], chop),
  ),
  ...inEachWay(12, (number, words, chop) =>
    bad(number, `a fragment without a first${words}`, [part('no'), frame(text, hello)], chop),
  ),
  bad(
    '5.15',
    'a fragment without a first, behind a whole text',
    [...halves, part('no'), frame(text, hello)],
    whole,
  ),
  bad('5.16', 'a fragment without a first, before a text in two', [part('no'), ...halves]),
  bad('5.17', 'a last fragment without a first, before a text in two', [end('no'), ...halves]),
  bad('5.18', 'two first fragments', [first(text, 'a'), frame(text, 'b')]),
  good('5.19', 'five fragments with two pings', withPings, {
    messages: ['abcde'],
    pings: ['1', '2'],
  }),
  good('5.20', 'five fragments with two pings, frame by frame', withPings, {
    ...{ messages: ['abcde'], pings: ['1', '2'], chop: 'frames' },
  }),
];

const utf8 = Buffer.from('Hello-µ@ßöäüàá-UTF-8!!');
const kosme = Buffer.from('cebae1bdb9cf83cebcceb5', 'hex');
const behind = Buffer.from('656469746564', 'hex');
const surrogate = Buffer.concat([kosme, Buffer.from('eda080', 'hex'), behind]);
const tooHigh = Buffer.from('f4908080', 'hex');
const noText = { code: 1007 };
const early = [kosme, tooHigh, behind];
const earlier = [
  Buffer.concat([kosme, tooHigh.subarray(0, 1)]),
  tooHigh.subarray(1, 2),
  Buffer.concat([tooHigh.subarray(2), behind]),
];
const utf8Frames = [
  good('6.1.1', 'an empty text', [frame(text)], { messages: [''] }),
  good('6.1.2', 'three empty fragments', inParts(text, ['', '', '']), { messages: [''] }),
  good('6.1.3', 'a fragment between empty ones', inParts(text, ['', 'middle', '']), {
    messages: ['middle'],
  }),
  good('6.2.1', 'UTF-8', [frame(text, utf8)], { messages: [latin1(utf8)] }),
  good('6.2.2', 'UTF-8 in two fragments, between characters', inParts(text, cut(utf8, 12)), {
    messages: [latin1(utf8)],
  }),
  good('6.2.3', 'UTF-8 in fragments of a byte', inParts(text, cut(utf8, 1)), {
    messages: [latin1(utf8)],
  }),
  good('6.2.4', 'Greek in fragments of a byte', inParts(text, cut(kosme, 1)), {
    messages: [latin1(kosme)],
  }),
  bad('6.3.1', 'a surrogate', [frame(text, surrogate)], noText),
  bad('6.3.2', 'a surrogate, in fragments of a byte', inParts(text, cut(surrogate, 1)), noText),
  bad('6.4.1', 'a point above U+10FFFF in a fragment of its own', inParts(text, early), noText),
  bad('6.4.2', '… cut behind the byte that decides', inParts(text, earlier), noText),
  bad('6.4.3', '… in one frame, written in pieces of 11', [frame(text, Buffer.concat(early))], {
    ...noText,
    chop: 11,
  }),
  bad('6.4.4', '… in one frame, byte by byte', [frame(text, Buffer.concat(early))], {
    ...noText,
    chop: 1,
  }),
];

/** 6.5 to 6.23: what is UTF-8 (a name in front with `+`), and what is none. Hexadecimal. */
const sequences: readonly (readonly [title: string, hex: string])[] = [
  [
    '+characters of 1 to 4 bytes',
    '68656c6c6f24776f726c64 68656c6c6fc2a2776f726c64 68656c6c6fe282ac776f726c64 68656c6c6ff0a4ada2776f726c64 68656c6c6fed959c776f726c64',
  ],
  [
    'prefixes of a text',
    'ce ceba cebae1 cebae1bd cebae1bdb9 cebae1bdb9cf cebae1bdb9cf83 cebae1bdb9cf83ce cebae1bdb9cf83cebc cebae1bdb9cf83cebcce cebae1bdb9cf83cebcceb5',
  ],
  ['+first of each length', '00 c280 e0a080 f0908080'],
  ['first of 5 and 6 bytes', 'f888808080 fc8480808080'],
  ['+last of each length', '7f dfbf efbfbf f48fbfbf'],
  ['last of what is too high', 'f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf'],
  ['other borders', 'ed9fbf ee8080 efbfbd f48fbfbf f4908080'],
  [
    'continuation bytes alone',
    `80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf ${range(0x80, 0xbf, '')}`,
  ],
  [
    'start bytes alone',
    [
      [0xc0, 0xdf],
      [0xe0, 0xef],
      [0xf0, 0xf7],
      [0xf8, 0xfb],
      [0xfc, 0xfd],
    ]
      .map(([from, to]) => range(from!, to!, '20'))
      .join(' '),
  ],
  ['last byte missing', 'c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf'],
  [
    'all of these behind each other',
    'c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf',
  ],
  ['impossible bytes', 'fe ff fefeffff'],
  ['overlong slash', 'c0af e080af f08080af f8808080af fc80808080af'],
  ['longest overlong forms', 'c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf'],
  ['overlong zero', 'c080 e08080 f0808080 f880808080 fc8080808080'],
  ['single surrogates', 'eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf'],
  [
    'paired surrogates',
    'eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf',
  ],
  [
    '+points that are no characters',
    Array.from({ length: 17 }, (_, plane) =>
      [0xfffe, 0xffff].map((low) => hexOf((plane << 16) | low)).join(' '),
    ).join(' '),
  ],
  ['+specials', [0xfff9, 0xfffa, 0xfffb, 0xfffc, 0xfffd, 0xfffe, 0xffff].map(hexOf).join(' ')],
];

function range(from: number, to: number, between: string): string {
  return Array.from({ length: to - from + 1 }, (_, at) => (from + at).toString(16) + between).join(
    '',
  );
}

function hexOf(point: number): string {
  return Buffer.from(String.fromCodePoint(point)).toString('hex');
}

/** By the standard itself, for the two lists in which some are and some are not. */
function isText(payload: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(payload);
    return true;
  } catch {
    return false;
  }
}

const texts = sequences.flatMap(([title, list], group) =>
  list.split(' ').map((hex, at) => {
    const payload = Buffer.from(hex, 'hex');
    const number = `6.${group + 5}.${at + 1}`;
    const shown = hex.length > 24 ? `${hex.slice(0, 24)}…` : hex;
    const what = `${title.replace(/^\+/, '')}: ${shown}`;
    const isGood = title.startsWith('+') || (/^(prefixes|other)/.test(title) && isText(payload));
    if (isGood) return good(number, what, [frame(text, payload)], { messages: [latin1(payload)] });
    return bad(number, `${what}, which is no UTF-8`, [frame(text, payload)], noText);
  }),
);

const long = 'x'.repeat(262_144);
const closes = [
  good('7.1.1', 'a text, then a close', [frame(text, hello)], known),
  good('7.1.2', 'two closes', [bye]),
  one('7.1.3', 'a ping behind a close', [bye, frame(ping)], {}),
  one('7.1.4', 'a text behind a close', [bye, frame(text, hello)], {}),
  one('7.1.5', 'a close between two fragments', [halves[0]!, bye, halves[1]!], {}),
  one('7.1.6', 'a close behind 256 KB', [frame(text, long), bye, frame(ping)], {
    messages: [long],
  }),
  one('7.3.1', 'a close without payload', [frame(close)], { code: 1005 }),
  bad('7.3.2', 'a close of one byte', [frame(close, Buffer.from([3]))]),
  one('7.3.3', 'a close with a code', [bye], {}),
  one('7.3.4', 'a close with a reason', [closing(1000, hello)], {}),
  one('7.3.5', 'a reason of 123 bytes', [closing(1000, 'x'.repeat(123))], {}),
  bad('7.3.6', 'a reason of 124 bytes', [closing(1000, 'x'.repeat(124))]),
  bad('7.5.1', 'a reason that is no UTF-8', [closing(1000, surrogate)], noText),
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].map(
    (code, at) => one(`7.7.${at + 1}`, `close code ${code}`, [closing(code)], { code }),
  ),
  ...[0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999].map((code, at) =>
    bad(`7.9.${at + 1}`, `close code ${code}, which nobody may send`, [closing(code)]),
  ),
  ...[5000, 65_535].map((code, at) =>
    bad(`7.13.${at + 1}`, `close code ${code}, which has no meaning`, [closing(code)]),
  ),
];

const kb = 1024;
/** Of the sizes in group 9. */
const share = 16;
const payload = (size: number): Buffer => Buffer.alloc(size / share, '*');
const sizes = [text, binary].flatMap((code, odd) => [
  ...[64, 256, 1024, 4096, 8192, 16_384].map((size, at) => {
    const message = payload(size * kb);
    return good(
      `9.${odd + 1}.${at + 1}`,
      `${names[code]} of ${size / share} KB`,
      [frame(code, message)],
      {
        messages: [latin1(message)],
      },
    );
  }),
  ...[64, 256, kb, 4 * kb, 16 * kb, 64 * kb, 256 * kb, 1024 * kb, 4096 * kb].map((size, at) => {
    const message = payload(4096 * kb);
    const what = `${names[code]} of 256 KB in fragments of ${size / share} bytes`;
    const pieces = inParts(code, cut(message, size / share));
    return good(`9.${odd + 3}.${at + 1}`, what, pieces, { messages: [latin1(message)] });
  }),
  ...[64, 128, 256, 512, 1024, 2048].map((chop, at) => {
    const message = payload(1024 * kb);
    const what = `${names[code]} of 64 KB, written in pieces of ${chop}`;
    return good(`9.${odd + 5}.${at + 1}`, what, [frame(code, message)], {
      ...{ messages: [latin1(message)], chop },
    });
  }),
  ...[0, 16, 64, 256, 1024, 4096].map((size, at) => {
    const message = Buffer.alloc(size, '*');
    const what = `1,000 ${names[code]} messages of ${size} bytes`;
    const messages = Array<string>(1000).fill(latin1(message));
    return good(`9.${odd + 7}.${at + 1}`, what, Array<Frame>(1000).fill(frame(code, message)), {
      messages,
    });
  }),
]);

const fragmented = 'x'.repeat(65_536);
const misc = [
  good(
    '10.1.1',
    '64 KB in fragments of 1,300 bytes',
    inParts(text, cut(Buffer.from(fragmented), 1300)),
    {
      messages: [fragmented],
    },
  ),
];

export const webSocketCases: readonly WebSocketCase[] = [
  ...framing,
  ...pings,
  ...reserved,
  ...opcodes,
  ...fragments,
  ...utf8Frames,
  ...texts,
  ...closes,
  ...sizes.sort((a, b) => Number(a.number.slice(2, 3)) - Number(b.number.slice(2, 3))),
  ...misc,
];

/** A frame as it stands on the wire. @param mask of a client */
function wireFrame({ code, payload, last, reserved }: Frame, mask?: Buffer): Buffer {
  const { length } = payload;
  const wide = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const start = 2 + wide + (mask?.length ?? 0);
  const bytes = Buffer.alloc(start + length);
  bytes[0] = (last ? 0x80 : 0) | (reserved << 4) | code;
  bytes[1] = (mask === undefined ? 0 : 0x80) | (wide === 0 ? length : wide === 2 ? 126 : 127);
  if (wide === 2) bytes.writeUInt16BE(length, 2);
  if (wide === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  mask?.copy(bytes, 2 + wide);
  payload.copy(bytes, start);
  if (mask !== undefined) for (let at = 0; at < length; at++) bytes[start + at]! ^= mask[at & 3]!;
  return bytes;
}

/** What is written, piece by piece. */
export function piecesOfCase({ frames, chop }: WebSocketCase, mask?: Buffer): Buffer[] {
  // A case may have one frame a thousand times.
  const known = new Map<Frame, Buffer>();
  const written = frames.map((each) => {
    const bytes = known.get(each) ?? wireFrame(each, mask);
    known.set(each, bytes);
    return bytes;
  });
  if (chop === 'frames') return written;
  const all = Buffer.concat(written);
  return chop === undefined ? [all] : cut(all, chop);
}
