// Network of the test cluster: a bridge in the namespace of the control plane, and a namespace for each node on it.
import { run } from './programs.mjs';

export const addresses = {
  /** Control plane, names, and the hubs of the tests. */
  plane: '10.250.0.1',
  services: '10.252.0.0/24',
  pods: '10.251.0.0/16',
  node: (at) => `10.250.0.${10 + at}`,
  podsOf: (at) => `10.251.${at}.0/24`,
};

const ip = (words) => run(['ip', ...words.split(' ')]);

export function makeBridge() {
  ip('link set lo up');
  ip('link add cluster type bridge');
  ip(`addr add ${addresses.plane}/24 dev cluster`);
  ip('link set cluster up');
}

/** A namespace by the name of the node, `at` counts from 1. */
export function connectNode(name, at) {
  ip(`netns add ${name}`);
  ip(`link add to-${name} type veth peer name eth0 netns ${name}`);
  ip(`link set to-${name} master cluster up`);
  ip(`-n ${name} link set lo up`);
  ip(`-n ${name} addr add ${addresses.node(at)}/24 dev eth0`);
  ip(`-n ${name} link set eth0 up`);
  ip(`-n ${name} route add default via ${addresses.plane}`);
  ip(`route add ${addresses.podsOf(at)} via ${addresses.node(at)}`);
}

/** Pods of one node reach those of another directly. */
export function connectPods(names) {
  for (const [from, name] of names.entries())
    for (const to of names.keys())
      if (to !== from)
        ip(`-n ${name} route add ${addresses.podsOf(to + 1)} via ${addresses.node(to + 1)}`);
}
