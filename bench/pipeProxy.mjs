// The least that a proxy in Node can do: passes the bytes of two sockets on as they come, and reads nothing. What
// the recording proxy costs beside it is what recording costs. `node bench/pipeProxy.mjs http://HOST:PORT/PATH`
// prints its URL on standard output and ends when its standard input does.
import { connect, createServer } from 'node:net';

const { href, hostname: host, port } = new URL(process.argv[2]);

function pass(from, to) {
  from.setNoDelay(true);
  from.on('data', (chunk) => {
    if (!to.write(chunk)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

const server = createServer((client) => {
  const hub = connect({ host, port: Number(port) });
  pass(client, hub);
  pass(hub, client);
});
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  console.log(href.replace(port, String(server.address().port)));
});
process.stdin.resume();
process.stdin.on('end', () => process.exit());
