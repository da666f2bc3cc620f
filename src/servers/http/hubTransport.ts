/** What a transport tells the connection it carries. */
export interface TransportOwner {
  arrived(data: Buffer, isBinary: boolean): void;
  /** Whether anything more may be written; closes the connection when it may not. */
  hasRoom(): boolean;
  /** The transport is no more; told once. */
  gone(): void;
}

/** How the bytes of one connection travel. */
export interface HubTransport {
  /** Written, and not read by the client yet. */
  readonly unreadBytes: number;
  readonly isWritable: boolean;
  /** The transport itself notices a client that is gone: there are no pings. */
  readonly hasOwnKeepAlive: boolean;
  /** Whether it carries anything but text. */
  readonly carriesBinary: boolean;
  attach(owner: TransportOwner): void;
  /** Writes whole WebSocket frames; transports of another kind send what is in them. */
  write(frames: Buffer): void;
  /** Ends in order, behind what was written. */
  close(code: number): void;
  /** Ends at once, without a word. */
  terminate(): void;
  pause(): void;
  resume(): void;
  /** Time-outs; called about once a second. */
  tick(nowMs: number): void;
}
