import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { startFront } from './loadFront';
import { listenOnLoopback, type Peer } from './loadPeers';

/** What is planted, by its place; none is part of another, and all look alike. */
export class Planted {
  readonly values = new Map<string, string>();

  constructor(private readonly mark: string) {}

  at(place: string): string {
    const value = `Zq${this.mark}${String(this.values.size).padStart(2, '0')}+/${place.replace(/\W/g, '')}=pl4nt`;
    this.values.set(place, value);
    return value;
  }

  /** Where one of them stands, in any form, also cut off. */
  foundIn(text: string): string[] {
    return [...this.values]
      .filter(([, value]) =>
        [...formsOf(value), value.slice(0, tellingLength)].some((form) => text.includes(form)),
      )
      .map(([place]) => place);
  }
}

/** So much of one is one of them, and too much to be seen. */
const tellingLength = 9;

/** As it is, in URLs, in JSON, in hexadecimal, and inside of base64 text, wherever that begins. */
function formsOf(value: string): string[] {
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]);
    // The first and the last letters hold bits of what stands beside it.
    return (['base64', 'base64url'] as const).map((form) => whole.toString(form).slice(4, -4));
  });
  const hex = Buffer.from(value).toString('hex');
  const encoded = encodeURIComponent(value);
  return [
    value,
    encoded,
    encoded.toLowerCase(),
    JSON.stringify(value).slice(1, -1),
    hex,
    ...inBase64,
  ];
}

/** Everything in a folder and below, with the names of the files. */
export function textsBelow(folder: string): string {
  return readdirSync(folder, { recursive: true })
    .map((name) => path.join(folder, String(name)))
    .filter((file) => statSync(file).isFile())
    .map((file) => `${file}\n${readFileSync(file, 'latin1')}`)
    .join('\n');
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of HTTP that keeps what it was sent. */
export async function answering(answer: Answer): Promise<Peer & { readonly requests: string[] }> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (text: string) => (body += text));
    request.on('end', () => {
      requests.push([request.url, ...request.rawHeaders, body].join('\n'));
      answer(request, response);
    });
  });
  return { ...(await listenOnLoopback(server, '/')), requests };
}

/** A scenario that has a secret wherever one may stand, and the servers it needs. */
export interface PlantedScenario {
  readonly scenario: { readonly config: object; readonly scenario: object; readonly slo: object };
  /** A line above it. */
  readonly comment: string;
  /** Of `rows.csv` beside it. */
  readonly rows: string;
  readonly env: Readonly<Record<string, string>>;
  /** What stands in the files; and in the environment. */
  readonly literal: Planted;
  readonly given: Planted;
  /** They were where they belong, or nothing would be shown. */
  assertArrived(further?: readonly string[]): void;
  dispose(): Promise<void>;
}

/** @param hubUrl of a hub that lets everybody in */
export async function plantScenario(hubUrl: string): Promise<PlantedScenario> {
  const literal = new Planted('lit');
  const given = new Planted('env');
  const metrics = await answering((_request, response) =>
    response.end('# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1\n'),
  );
  const issuer = await answering((_request, response) =>
    response.end(JSON.stringify({ token: literal.at('token of an endpoint') })),
  );
  const front = await startFront(hubUrl);
  const rows = Array.from({ length: 4 }, (_, at) => `u${at},${literal.at(`row ${at}`)}`);
  const withUser = (url: string, place: string): string => {
    const [user, password] = ['user', 'password'].map((part) =>
      encodeURIComponent(literal.at(`${part} of ${place}`)),
    );
    return url.replace('://', `://${user}:${password}@`);
  };
  const target = withUser(new URL(front.url).href, 'target');
  const config = {
    ...{ connections: 4, baseSending: 4, step: 0, singleStepDuration: '400ms', warmup: 0 },
    target: `${target}?code=${encodeURIComponent(literal.at('query of target'))}`,
    headers: {
      'X-Gate': literal.at('header'),
      Cookie: `who=${literal.at('cookie')}`,
      'X-Row': '{data.secret}',
      'X-Env': '${env:PLANTED_HEADER}',
      'X-Kept': '${secret:kept}',
    },
    query: { sig: literal.at('query') },
    identities: {
      url: `${issuer.url}?client=${encodeURIComponent(literal.at('query of issuer'))}`,
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(literal.at('header of issuer')).toString('base64')}`,
      },
      body: `grant_type=client_credentials&client_secret=${encodeURIComponent(literal.at('body of issuer'))}`,
      ...{ count: 4, rate: 100 },
    },
    data: { file: 'rows.csv' },
    observe: [
      { prometheus: metrics.url, authorization: `Bearer ${literal.at('observe')}` },
      { prometheus: withUser(`${metrics.url}metrics`, 'observe') },
    ],
  };
  const env = {
    PLANTED_HEADER: given.at('env reference'),
    SIGNALR_BENCH_SECRET_KEPT: given.at('secret reference'),
    HTTPS_PROXY: `http://user:${encodeURIComponent(given.at('password of proxy'))}@127.0.0.1:9`,
  };
  const comment = `# - { user: ann, token: ${literal.at('comment')} }\n`;
  const peers = [front, metrics, issuer];
  return {
    ...{ literal, given, env, comment, rows: `name,secret\n${rows.join('\n')}\n` },
    scenario: {
      config,
      scenario: { name: 'echo', parameters: { sendingInterval: '100ms' } },
      slo: { p99: '60s' },
    },
    assertArrived: (further = []) => {
      const sent = [...peers.flatMap(({ requests }) => requests), ...further].join('\n');
      const arrived = [literal, given].flatMap((each) => each.foundIn(sent));
      const never = [literal, given].flatMap((each) =>
        [...each.values.keys()].filter((place) => !arrived.includes(place)),
      );
      // The token of an identity takes the place of user and password; nothing goes to the proxy.
      assert.deepEqual(never, [
        ...['user of target', 'password of target', 'comment', 'password of proxy'],
      ]);
    },
    dispose: async () => {
      await Promise.all(peers.map((each) => each.dispose()));
    },
  };
}
