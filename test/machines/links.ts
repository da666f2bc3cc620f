import { spawnSync } from 'node:child_process';
import type { AddressInfo, Server } from 'node:net';
import { promisify } from 'node:util';
import type { Disposable } from '../../src/base/async';
import { relayTo } from '../fakes/relayTo';
import { SlowRelay } from './slowRelay';

/**
 * A machine of its own by its network: a network namespace with two links to this one, one for the load and one for the
 * bus, each of which can be taken down. See `ip-netns(8)`, `veth(4)`. Servers on loopback are reached there by relays.
 */
export class LinkedMachine {
  private readonly name = `sb${process.pid}`;
  private readonly relays: Disposable[] = [];
  private readonly loads: Server[] = [];

  get under(): string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  /** @throws Error with why there can be none */
  static make(): LinkedMachine {
    const machine = new LinkedMachine();
    const { name } = machine;
    try {
      ip('netns', 'add', name);
      for (const [link, [here, there]] of Object.entries(addresses)) {
        const [near, far] = [`${name}${link}0`, `${name}${link}1`];
        ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
        ip('addr', 'add', `${here}/30`, 'dev', near);
        ip('link', 'set', near, 'up');
        ip('-netns', name, 'addr', 'add', `${there}/30`, 'dev', far);
        ip('-netns', name, 'link', 'set', far, 'up');
      }
      return machine;
    } catch (error) {
      machine.dispose();
      throw error;
    }
  }

  async reach(link: keyof typeof addresses, url: string): Promise<string> {
    const [here] = addresses[link];
    const at = new URL(url);
    const port = Number(at.port);
    if (link === 'bus') {
      const relay = await SlowRelay.start(port, 0, 0, here);
      this.relays.push(relay);
      at.port = `${relay.port}`;
    } else {
      const relay = await relayTo(port, here);
      this.relays.push({ dispose: () => relay.close() });
      this.loads.push(relay);
      at.port = `${(relay.address() as AddressInfo).port}`;
    }
    at.hostname = here;
    return at.href;
  }

  async connections(): Promise<number> {
    const counts = this.loads.map((relay) => promisify(relay.getConnections.bind(relay))());
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  set(link: keyof typeof addresses, to: 'up' | 'down'): void {
    ip('link', 'set', `${this.name}${link}0`, to);
  }

  dispose(): void {
    for (const relay of this.relays) relay.dispose();
    // Sockets whose last words nobody takes would keep it there.
    for (const link of Object.keys(addresses))
      spawnSync('ip', ['link', 'del', `${this.name}${link}0`]);
    spawnSync('ip', ['netns', 'del', this.name]);
  }
}

/** Of the two ends of each link, from the range for tests between networks. Source: RFC 2544, appendix C.2.2. */
const part = process.pid % 250;
const addresses = {
  load: [`198.18.${part}.1`, `198.18.${part}.2`],
  bus: [`198.19.${part}.1`, `198.19.${part}.2`],
} as const;

function ip(...words: string[]): void {
  const { status, stderr, error } = spawnSync('ip', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(error?.message ?? stderr.trim());
}
