/** The official clients of ASP.NET SignalR, led by orders: that of .NET in a process, that of browsers in a page. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { skipAloud } from '../fakes/skipAloud';

export interface ClientEvent {
  /** Of the client that says it. */
  readonly name: string;
  /** A callback by its name, a change of the state, the result of a call and so on. */
  readonly what: string;
  readonly value: unknown;
}

export type Order = Readonly<Record<string, unknown>> & { readonly do: 'open' | 'invoke' | 'stop' };

export interface Outcome {
  readonly result?: unknown;
  readonly error?: string;
}

/** Where orders go. */
interface Lead {
  order(order: Order): void;
  dispose(): Promise<void>;
}

export class OfficialClients {
  private readonly events: ClientEvent[] = [];
  private readonly waiting = new Set<() => void>();
  private calls = 0;

  private constructor(private readonly lead: Lead) {}

  static async start(
    begin: (say: (event: ClientEvent) => void) => Promise<Lead>,
  ): Promise<OfficialClients> {
    let say: (event: ClientEvent) => void = () => undefined;
    const clients = new OfficialClients(await begin((event) => say(event)));
    say = (event) => {
      clients.events.push(event);
      for (const wake of clients.waiting) wake();
    };
    return clients;
  }

  dispose(): Promise<void> {
    return this.lead.dispose();
  }

  /** @returns the transport and the id that it has got, or the error that refused it */
  async open(name: string, url: string, transport: string): Promise<unknown> {
    this.lead.order({ do: 'open', name, url, transport });
    return (await this.first(name, ({ what }) => what === 'started' || what === 'failed')).value;
  }

  async invoke(name: string, method: string, ...args: unknown[]): Promise<Outcome> {
    const id = String(++this.calls);
    this.lead.order({ do: 'invoke', name, id, method, args });
    const isOurs = ({ what, value }: ClientEvent): boolean =>
      what === 'result' && (value as { id: string }).id === id;
    const { value } = await this.first(name, isOurs);
    const { of: outcome } = value as { of: Outcome };
    return outcome;
  }

  async stop(name: string): Promise<void> {
    this.lead.order({ do: 'stop', name });
    await this.until(name, 'state', 'Disconnected');
  }

  /** Values of all events of a kind, in their order. */
  said(name: string, what: string): unknown[] {
    return this.events
      .filter((event) => event.name === name && event.what === what)
      .map(({ value }) => value);
  }

  async until(name: string, what: string, value: unknown): Promise<void> {
    await this.first(name, (event) => event.what === what && event.value === value);
  }

  /** Waits until there are so many events of a kind. @returns their values */
  async atLeast(count: number, name: string, what: string): Promise<unknown[]> {
    await this.first(name, () => this.said(name, what).length >= count);
    return this.said(name, what);
  }

  private first(name: string, wanted: (event: ClientEvent) => boolean): Promise<ClientEvent> {
    return new Promise((resolveFirst) => {
      const look = (): void => {
        const found = this.events.find((event) => event.name === name && wanted(event));
        if (found === undefined) return;
        this.waiting.delete(look);
        resolveFirst(found);
      };
      this.waiting.add(look);
      look();
    });
  }
}

const assembly = join('out', 'interop', 'classic', 'classicClient.dll');

export function dotnetClients(context: Mocha.Context): Promise<OfficialClients> {
  if (!existsSync(assembly) || spawnSync('dotnet', ['--version']).status !== 0)
    skipAloud(context, 'the client of .NET is not built: node scripts/buildInterop.mjs');
  return OfficialClients.start((say) => {
    const child = spawn('dotnet', [assembly], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', (line) =>
      say(JSON.parse(line) as ClientEvent),
    );
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    return Promise.resolve({
      order: (order) => child.stdin.write(`${JSON.stringify(order)}\n`),
      dispose: () => {
        child.stdin.end();
        return ended;
      },
    });
  });
}

interface HostModule {
  readonly findChromium: () => string | undefined;
  readonly launchChromium: () => Promise<Browser>;
}

const pageFiles: Readonly<Record<string, string>> = {
  'classic.html': join('test', 'interop', 'classicPage', 'classic.html'),
  'classic.js': join('test', 'interop', 'classicPage', 'classic.js'),
  'jquery.min.js': join('node_modules', 'jquery', 'dist', 'jquery.min.js'),
  'jquery.signalR.min.js': join('node_modules', 'signalr', 'jquery.signalR.min.js'),
};

/** The page comes from a port of its own: everything it asks a hub goes across origins. */
export async function browserClients(context: Mocha.Context): Promise<OfficialClients> {
  const host = pathToFileURL(resolve('scripts', 'vscodeHost.mjs')).href;
  const { findChromium, launchChromium } = (await import(host)) as HostModule;
  if (findChromium() === undefined)
    skipAloud(context, 'there is no Chromium: npm run setup:vscode');
  const server = createServer(({ url = '' }, response) => {
    const file = pageFiles[url.slice(1)];
    const type = url.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.writeHead(file === undefined ? 404 : 200, { 'Content-Type': type });
    response.end(file === undefined ? '' : readFileSync(file));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const browser = await launchChromium();
  return OfficialClients.start(async (say) => {
    const page = await browser.newPage();
    await page.exposeFunction('say', say);
    const { port } = server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/classic.html`);
    return {
      order: (order) => void page.evaluate(`lead(${JSON.stringify(order)})`),
      dispose: async () => {
        await browser.close();
        server.close();
      },
    };
  });
}
