import type { TargetKind } from '../../src/scenario/target/targetKinds';
import type { Target } from '../../src/targets/target';
import { endpointOf } from './endpoint';

/** Names a hub by its port on this machine: `port 5050`. Nothing of `src` knows it. */
export interface PortSpec {
  readonly kind: 'port';
  readonly port: string;
}

const urlOf = ({ port }: PortSpec): string => `http://127.0.0.1:${port}/signalrbench`;

export const madeUpKind: TargetKind<PortSpec> = {
  kind: 'port',
  behind: 'userHub',
  summary: 'the port of a hub on this machine',
  matches: (text) => {
    const port = /^port ([0-9]{1,5})$/.exec(text)?.[1];
    return port === undefined ? undefined : { kind: 'port', port };
  },
  pattern: '^port [0-9]{1,5}$',
  offers: [['port 5050', 'a hub on this machine']],
  urls: (spec) => [urlOf(spec)],
};

export const madeUpTarget: Target = {
  kind: 'port',
  open: ({ target }) => {
    const url = urlOf(target as unknown as PortSpec);
    return Promise.resolve({
      kind: 'port',
      endpoint: endpointOf(url),
      secrets: [],
      url,
      hostsBeyond: [],
      dispose: () => Promise.resolve(),
    });
  },
  probe: ({ target }) => {
    const url = urlOf(target as unknown as PortSpec);
    // The port 1 of this machine is asked as a hub is.
    if (url.includes(':1/')) return Promise.resolve(undefined);
    return Promise.resolve({ url, reachable: true, signedIn: false, connectMs: 5 });
  },
};
