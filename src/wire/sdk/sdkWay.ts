import type { ConnectFailure } from '../connect/connectFailure';
import type { Cookies } from '../connect/cookies';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import type { Endpoint } from '../../base/endpoint';
import type { NegotiateAgents } from '../connect/negotiate';

/** What is given to the official client for one connection in place of its own sockets, and what they tell. */
export interface SdkWay {
  readonly endpoint: Endpoint;
  /** Sockets for HTTP requests, shared by the connections of a worker. */
  readonly agents: NegotiateAgents;
  readonly cookies: Cookies;
  /** Longest WebSocket message, event or answer that is accepted. */
  readonly maximumBytes: number;
  /** Ends everything that is on its way. */
  readonly signal: AbortSignal;
  readonly stopwatch: ConnectStopwatch | undefined;
  /** Negotiates for a new token; undefined when there is none to be had. */
  readonly renew: () => Promise<string | undefined>;
  /** Why something failed, in our words; the first reason counts. Returns it, to be thrown. */
  readonly failed: (failure: ConnectFailure) => ConnectFailure;
  /** The client hands over something to be sent. */
  readonly sending: (content: string | ArrayBufferLike | undefined) => void;
  /** Something that was handed over is sent, so many bytes of it. */
  readonly sent: (bytes: number) => void;
  /** Bytes that the transport has put around what the client gets next. */
  readonly arriving: (overheadBytes: number) => void;
}
