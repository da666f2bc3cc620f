import { HubMessageError } from '../message/hubMessage';
import {
  hasMessagesOnly,
  isAnswer,
  usualCursorAt,
  usualCursorEnd,
  walkFrame,
} from './classicCodec';

/** What a frame says besides its messages. */
export interface FrameNews {
  /** `S`: the server knows the connection now. */
  readonly initialized: boolean;
  /** `T`: the server wants it to come back over another request. */
  readonly reconnects: boolean;
  /** `D`, of servers before 2.0: the server gives it up. */
  readonly disconnects: boolean;
  /** `E` without an id: what is wrong with the whole connection. */
  readonly error?: string;
  /** `L`: pause before the next poll. */
  readonly pollDelayMs: number;
}

/** Both go into URLs: what is longer could not be sent anyway. */
const longestCursor = 8192;
const longestGroupsToken = 16_384;
/** Nobody is told to poll less often than that. */
const longestDelayMs = 60_000;

/**
 * What a client of ASP.NET SignalR has to remember to come back: how far it has read, and a token for the groups that
 * it is in. Source: the clients of SignalR/SignalR, `ClientTransportBase.ProcessResponse` and `UrlBuilder`.
 */
export class ClassicState {
  private cursor = Buffer.alloc(0);
  private cursorLength = 0;
  private groups = '';

  /** Undefined before the first frame with a cursor. */
  get messageId(): string | undefined {
    return this.cursorLength === 0 ? undefined : this.cursor.toString('utf8', 0, this.cursorLength);
  }

  get groupsToken(): string | undefined {
    return this.groups === '' ? undefined : this.groups;
  }

  /**
   * Takes note of a frame.
   *
   * @returns what it says besides messages; undefined where that is nothing
   * @throws HubMessageError when the frame is no JSON object, or what it wants remembered is too long
   */
  note(buffer: Buffer, start: number, end: number): FrameNews | undefined {
    const cursorEnd = usualCursorEnd(buffer, start, end);
    if (hasMessagesOnly(buffer, cursorEnd, end)) {
      this.keep(buffer, start + usualCursorAt, cursorEnd);
      return undefined;
    }
    if (isAnswer(buffer, start) || isKeepAlive(buffer, start, end)) return undefined;
    return this.noteRare(buffer, start, end);
  }

  private noteRare(buffer: Buffer, start: number, end: number): FrameNews | undefined {
    const found = new Map<string, unknown>();
    const behind = walkFrame(buffer, start, end, (key, from, to) => {
      // Answers of any length begin with other letters, too.
      if (names.has(key)) found.set(key, valueIn(buffer, from, to));
    });
    if (behind < 0) throw new HubMessageError('a frame is not a JSON object');
    if (found.has('I')) return undefined;
    const { C: cursor, G: groups, S, T, D, E: error, L } = Object.fromEntries(found);
    if (typeof cursor === 'string') {
      const bytes = Buffer.from(cursor, 'utf8');
      this.keep(bytes, 0, bytes.length);
    }
    if (typeof groups === 'string') this.keepGroups(groups);
    return {
      initialized: S === 1,
      reconnects: T === 1,
      disconnects: D === 1,
      ...(typeof error === 'string' && { error }),
      pollDelayMs: typeof L === 'number' && L > 0 ? Math.min(L, longestDelayMs) : 0,
    };
  }

  /** Byte by byte: a cursor is short, and comes with every frame. */
  private keep(from: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length > longestCursor)
      throw new HubMessageError(`a message id is longer than ${longestCursor} bytes`);
    if (length > this.cursor.length) this.cursor = Buffer.alloc(Math.max(48, 2 * length));
    const { cursor } = this;
    for (let at = 0; at < length; at++) cursor[at] = from[start + at]!;
    this.cursorLength = length;
  }

  private keepGroups(token: string): void {
    if (token.length > longestGroupsToken)
      throw new HubMessageError(`a groups token is longer than ${longestGroupsToken} characters`);
    this.groups = token;
  }
}

const isKeepAlive = (buffer: Buffer, start: number, end: number): boolean =>
  end - start === 2 && buffer[start] === 0x7b && buffer[start + 1] === 0x7d;

const names = new Set(['C', 'G', 'S', 'T', 'D', 'E', 'L', 'I']);

/** A value as data, where it is short enough to mean something. */
function valueIn(buffer: Buffer, start: number, end: number): unknown {
  if (end - start > 2 * longestGroupsToken)
    throw new HubMessageError('a frame has too long a member');
  try {
    return JSON.parse(buffer.toString('utf8', start, end)) as unknown;
  } catch {
    throw new HubMessageError('a frame is not a JSON object');
  }
}
