// The ASP.NET Core server of the tests with the page of its chat, for scripts. Needs `node scripts/buildInterop.mjs`.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A server that prints its URL in its first line and ends with its standard input. */
export async function startServer(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], ...options });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise((resolve, reject) => {
    lines.once('line', resolve);
    void ended.then((code) => reject(new Error(`${program} ${args.join(' ')} ended with ${code}`)));
  });
  const stop = () => {
    child.stdin.end();
    return ended;
  };
  return { url: JSON.parse(line).url, stop };
}

/** The chat is at `/chat`, its page at `/pages/chat.html`. */
export function startChatServer() {
  const client = (name) => path.join('node_modules', '@microsoft', name, 'dist', 'browser');
  const own = path.join('test', 'interop', 'chatPage');
  const pages = [own, ...['signalr', 'signalr-protocol-msgpack'].map(client)].join(',');
  const assembly = path.join('out', 'interop', 'aspnetcore', 'benchServer.dll');
  return startServer('dotnet', [assembly, '--pages', pages]);
}
