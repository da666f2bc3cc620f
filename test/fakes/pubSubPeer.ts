import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { WebSocket } from 'ws';

export const json = 'json.webpubsub.azure.v1';
export const reliableJson = 'json.reliable.webpubsub.azure.v1';
export const protobuf = 'protobuf.webpubsub.azure.v1';
export const everything = ['webpubsub.joinLeaveGroup', 'webpubsub.sendToGroup'];

/** An emulator, in this process or in another. */
interface Served {
  readonly connectionString: string;
}

const part = (connectionString: string, name: string): string =>
  new RegExp(`${name}=([^;]+)`).exec(connectionString)![1]!;

export const endpointOf = ({ connectionString }: Served): string =>
  part(connectionString, 'Endpoint');

/** A token signed with the emulator's key, valid for an hour. */
export function tokenFor(emulator: Served, audience: string, claims: object = {}): string {
  const coded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const text = `${coded({ alg: 'HS256', typ: 'JWT' })}.${coded({ aud: audience, exp, ...claims })}`;
  const key = part(emulator.connectionString, 'AccessKey');
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

export type JsonMessage = Readonly<Record<string, unknown>>;

interface PeerOptions {
  /** None is a simple client. */
  readonly protocol?: string | string[];
  readonly claims?: object;
  /** Instead of path and token. */
  readonly url?: string;
}

/** A client that speaks by hand. */
export class Peer {
  /** Everything received and not yet taken, in order. */
  readonly received: Buffer[] = [];
  readonly closed: Promise<number>;
  private wake: () => void = () => undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.received.push(data);
      this.wake();
    });
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
  }

  static urlOf(emulator: Served, claims: object = { role: everything }): string {
    const url = `${endpointOf(emulator)}/client/hubs/chat`;
    return `${url}?access_token=${tokenFor(emulator, url, claims)}`.replace('http', 'ws');
  }

  /** Opens the WebSocket, or rejects with the status that refuses it. */
  static async open(
    emulator: Served,
    { protocol = [], claims, url = Peer.urlOf(emulator, claims) }: PeerOptions = {},
  ): Promise<Peer> {
    const peer = new Peer(new WebSocket(url, protocol));
    const refused = new Promise<never>((_, reject) => {
      peer.socket.once('unexpected-response', (_request, response) => {
        reject(new Error(`refused with ${response.statusCode}`));
        peer.socket.terminate();
      });
    });
    await Promise.race([once(peer.socket, 'open'), refused]);
    return peer;
  }

  /** Opens a PubSub client in JSON, and takes its `connected`. */
  static async connect(
    emulator: Served,
    options: PeerOptions = {},
  ): Promise<Peer & { connected: JsonMessage }> {
    const peer = await Peer.open(emulator, { protocol: json, ...options });
    return Object.assign(peer, { connected: await peer.message() });
  }

  send(message: object | string | Buffer): void {
    const isFrame = typeof message === 'string' || Buffer.isBuffer(message);
    this.socket.send(isFrame ? message : JSON.stringify(message));
  }

  /** The next frame's payload. */
  async frame(): Promise<Buffer> {
    while (this.received.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.received.shift()!;
  }

  /** The next JSON message. */
  async message(): Promise<JsonMessage> {
    return JSON.parse((await this.frame()).toString()) as JsonMessage;
  }

  /** Sends a request, and returns its answer. */
  async ask(message: object): Promise<JsonMessage> {
    this.send(message);
    return this.message();
  }

  /** Once this returns, the emulator has handled everything this peer has sent. */
  async settled(): Promise<void> {
    this.socket.ping();
    await once(this.socket, 'pong');
  }
}

export interface RestReply {
  readonly status: number;
  readonly body: JsonMessage;
  readonly errorCode: string | undefined;
}

interface RestOptions {
  readonly body?: string | Buffer;
  readonly contentType?: string;
  /** undefined signs one for the path; null sends none. */
  readonly token?: string | null;
}

/** One REST call. The path is the one behind the hub, or a whole one. */
export async function rest(
  emulator: Served,
  method: string,
  path: string,
  { body, contentType, token }: RestOptions = {},
): Promise<RestReply> {
  const whole = path.startsWith('/')
    ? path
    : `/api/hubs/chat/${path}${path.includes('?') ? '&' : '?'}api-version=2024-12-01`;
  const url = `${endpointOf(emulator)}${whole}`;
  const given = token === undefined ? tokenFor(emulator, url.split('?', 1)[0]!) : token;
  const headers: OutgoingHttpHeaders = {
    ...(given !== null && { Authorization: `Bearer ${given}` }),
    ...(contentType !== undefined && { 'Content-Type': contentType }),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const code = response.headers['x-ms-error-code'];
        resolve({
          status: response.statusCode ?? 0,
          body: text === '' ? {} : (JSON.parse(text) as JsonMessage),
          errorCode: code === undefined ? undefined : String(code),
        });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Sends text over REST. */
export const restText = (emulator: Served, path: string, body: string): Promise<RestReply> =>
  rest(emulator, 'POST', path, { body, contentType: 'text/plain' });
