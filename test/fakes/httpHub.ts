import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificate, certificateKey } from './rawHub';

/** A request as it came, with its whole body; the test answers it. */
export interface HeldRequest {
  readonly method: string;
  readonly headers: http.IncomingMessage['headers'];
  readonly body: string;
  readonly response: http.ServerResponse;
}

/** A server on 127.0.0.1 that answers nothing by itself, so that a test decides when and what. */
export class HttpHub {
  private readonly waiting: HeldRequest[] = [];
  private wake: () => void = () => undefined;
  readonly server: http.Server;

  constructor(private readonly secure = false) {
    const hold: http.RequestListener = (request, response) => this.hold(request, response);
    this.server = secure
      ? https.createServer({ cert: certificate, key: certificateKey }, hold)
      : http.createServer(hold);
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): URL {
    const { port } = this.server.address() as AddressInfo;
    return new URL(`http${this.secure ? 's' : ''}://127.0.0.1:${port}/hub?id=token`);
  }

  /** How many requests wait to be taken. */
  get held(): number {
    return this.waiting.length;
  }

  /** The next request of that method; others stay. */
  async next(method: string): Promise<HeldRequest> {
    for (;;) {
      const at = this.waiting.findIndex((request) => request.method === method);
      if (at >= 0) return this.waiting.splice(at, 1)[0]!;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async dispose(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private hold(request: http.IncomingMessage, response: http.ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', headers } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      this.waiting.push({ method, headers, body, response });
      this.wake();
    });
  }
}

export function answer(
  { response }: HeldRequest,
  status = 200,
  body = '',
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers });
  response.end(body);
}
