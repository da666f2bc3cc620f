import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import type { SignInCheck } from '../../src/servers/service/emulatorOptions';
import { listenOnLoopback, type Peer } from './loadPeers';

/** A token is good for so long: shortly before, it is renewed, and @azure/identity keeps none so short. */
const lifeS = 241;
/** Newest tokens that services accept: one that has just been renewed is on its way still. */
const accepted = 2;

/**
 * Microsoft Entra ID as @azure/identity meets it on a machine: the endpoint of a managed identity, as App
 * Service has it, and a program `az`. Services ask it what they should think of a token.
 */
export class EntraId {
  /** All tokens that were given out, the newest last. */
  readonly issued: string[] = [];
  /** Resources that tokens were asked for. */
  readonly resources: (string | null)[] = [];
  /** What services answer to somebody with a good token. */
  role: 'accepted' | 'forbidden' = 'accepted';
  private peer: Peer | undefined;

  async start(): Promise<void> {
    this.peer = await listenOnLoopback(
      createServer(({ url = '', headers }, response) => {
        const query = new URL(url, 'http://localhost').searchParams;
        this.resources.push(query.get('resource'));
        const isKnown = query.get('client_id') !== 'unknown';
        if (headers['x-identity-header'] === 'known' && isKnown) this.answer(response);
        else response.writeHead(400).end('{"statusCode":400,"message":"no identity"}');
      }),
      '/token',
    );
  }

  /** Variables of a process with a managed identity. */
  get identity(): Readonly<Record<string, string>> {
    return { IDENTITY_ENDPOINT: this.peer!.url, IDENTITY_HEADER: 'known' };
  }

  /** Tokens that services have refused. */
  readonly refused = new Set<string>();

  readonly signIns: SignInCheck = (token) => {
    const answer = this.issued.slice(-accepted).includes(token) ? this.role : 'unauthorized';
    if (answer !== 'accepted') this.refused.add(token);
    return answer;
  };

  dispose(): Promise<void> {
    return this.peer?.dispose() ?? Promise.resolve();
  }

  /**
   * Variables of a process that finds a program `az` below `folder`, and looks nowhere else.
   *
   * @param fails what it says instead of giving a token
   */
  az(folder: string, fails?: string): Readonly<Record<string, string>> {
    const bin = path.join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    const asks = `"${process.execPath}" -e 'fetch(process.argv[1], { headers: { "x-identity-header": "known" } }).then((answer) => answer.json()).then((token) => console.log(JSON.stringify({ ...token, accessToken: token.access_token })))' "${this.peer!.url}?resource=$6"`;
    const says = fails === undefined ? asks : `echo '${fails}' >&2; exit 1`;
    writeFileSync(path.join(bin, 'az'), `#!/bin/sh\n${says}\n`, { mode: 0o755 });
    return { PATH: `${bin}:/usr/bin:/bin`, AZURE_TOKEN_CREDENTIALS: 'AzureCliCredential' };
  }

  private answer(response: ServerResponse): void {
    const token = `entra-${randomBytes(24).toString('base64url')}`;
    this.issued.push(token);
    const expires = String(Math.ceil(Date.now() / 1000) + lifeS);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const head = { access_token: token, expires_on: expires, token_type: 'Bearer' };
    response.end(JSON.stringify({ ...head, resource: this.resources.at(-1) }));
  }
}
