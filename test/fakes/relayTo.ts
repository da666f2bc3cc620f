import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';

/** Passes on what comes to a port of another address; the hub answers only those that call it by its own. */
export async function relayTo(port: number, host: string): Promise<Server> {
  const relay = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1');
    incoming.once('data', (first) => {
      const head = first.toString('latin1').replace(/^Host: .*$/im, `Host: 127.0.0.1:${port}`);
      outgoing.write(head, 'latin1');
      incoming.pipe(outgoing).pipe(incoming);
    });
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  relay.listen(0, host);
  await once(relay, 'listening');
  return relay;
}
