import { SignJWT } from 'jose';

/** How a test gets into an emulator: addresses and tokens, from its connection string. */
export class EmulatorPeer {
  /** `http://127.0.0.1:8888` */
  readonly url: string;
  readonly key: string;

  constructor(connectionString: string) {
    const parts = new Map(
      connectionString.split(';').map((part): [string, string] => {
        const at = part.indexOf('=');
        return [part.slice(0, at), part.slice(at + 1)];
      }),
    );
    this.url = `${parts.get('Endpoint')}:${parts.get('Port')}`;
    this.key = parts.get('AccessKey') ?? '';
  }

  /** A token for a path, as the service documents its audience: without the port. */
  token(
    path: string,
    claims: Readonly<Record<string, unknown>> = {},
    key = this.key,
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ aud: `http://127.0.0.1${path}`, exp: now + 600, ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(new TextEncoder().encode(key));
  }

  /** A request to the REST API. */
  async rest(
    method: string,
    path: string,
    body?: string | object,
    token?: string,
  ): Promise<Response> {
    const own = token ?? (await this.token(path.split('?', 1)[0]!));
    return fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${own}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
}
