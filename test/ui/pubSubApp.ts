import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import webpack from 'webpack';
import type { WebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { everything, Peer } from '../fakes/pubSubPeer';

/** The page with the official client for browsers, as one script. */
async function bundledPage(): Promise<string> {
  const folder = path.join(tmpdir(), `pub-sub-page-${process.pid}`);
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
    webpack(
      {
        ...{ mode: 'none', target: 'web', devtool: false },
        entry: path.resolve('test', 'interop', 'chatPage', 'pubSub.js'),
        output: { path: folder, filename: 'pubSub.js' },
      },
      (error, done) => (error === null ? resolve(done) : reject(error)),
    ),
  );
  if (stats?.hasErrors() === true) throw new Error(stats.toString('errors-only'));
  return readFileSync(path.join(folder, 'pubSub.js'), 'utf8');
}

/** An application with Azure Web PubSub: it has a page, and gives clients the address that they connect to. */
export async function startPubSubApp(
  emulator: WebPubSubEmulator,
): Promise<{ readonly url: string; dispose(): void }> {
  const script = await bundledPage();
  const app = createServer((request, response) => {
    const isPage = request.url === '/';
    response.setHeader('Content-Type', isPage ? 'text/html' : 'text/javascript');
    if (request.url === '/negotiate')
      response
        .setHeader('Content-Type', 'application/json')
        .end(JSON.stringify({ url: Peer.urlOf(emulator, { role: everything }) }));
    else response.end(isPage ? '<!doctype html><script src="pubSub.js"></script>' : script);
  }).listen(0, '127.0.0.1');
  await once(app, 'listening');
  return {
    url: `http://127.0.0.1:${(app.address() as AddressInfo).port}/`,
    dispose: () => {
      app.close();
      app.closeAllConnections();
    },
  };
}
