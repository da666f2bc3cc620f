// A node of the test cluster: containerd, kubelet and kube-proxy in a network and a mount namespace of their own.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeUser } from './controlPlane.mjs';
import { images } from './images.mjs';
import { addresses } from './network.mjs';
import { networkPlugins } from './programs.mjs';

/** Settings of the machine that a kubelet writes; it gets copies. */
const settings = [
  ...['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops'],
  ...['kernel/keys/root_maxkeys', 'kernel/keys/root_maxbytes'],
].map((name) => `/proc/sys/${name}`);

/** Of the clock of each node that only goes on: as of machines that were started at other times. */
const clockShiftS = 1000;

/** Without rights to lift limits of the system, the scores of processes stay as they are. */
const containerdConfig = (folder) => `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${images.pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${networkPlugins}"
    conf_dir = "${folder}/network"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;

const networkConfig = (at) => ({
  ...{ cniVersion: '0.4.0', name: 'pods' },
  plugins: [
    {
      // One link for each pod: what a service sends back to the same node is routed, too.
      type: 'ptp',
      ipam: {
        type: 'host-local',
        dataDir: '/run/addresses',
        ranges: [[{ subnet: addresses.podsOf(at) }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
});

const kubeletConfig = {
  ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' },
  ...{ cgroupDriver: 'cgroupfs', cgroupsPerQOS: false, enforceNodeAllocatable: [] },
  ...{ failSwapOn: false, oomScoreAdj: 0, clusterDNS: [addresses.plane] },
  ...{ clusterDomain: 'cluster.local', resolvConf: '', maxPods: 50 },
  // The disk of the machine is not its own.
  evictionHard: { 'memory.available': '100Mi' },
  imageGCHighThresholdPercent: 100,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
};

const proxyConfig = (name, kubeconfig) => ({
  ...{ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' },
  ...{ mode: 'iptables', hostnameOverride: name, clusterCIDR: addresses.pods },
  clientConnection: { kubeconfig },
  // Limits of the machine, not of a namespace.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
});

/**
 * @param {string} folder for its configuration
 * @param {number} at counts from 1
 * @param {(name: string, words: string[]) => import('node:child_process').ChildProcess} start begins a program
 * @returns {(words: string[]) => string[]} words of a command line in its namespaces
 */
export function startNode({ folder, name, at, archives, configOf, start }) {
  mkdirSync(path.join(folder, 'network'), { recursive: true });
  const file = (part) => path.join(folder, part);
  const write = (part, content) =>
    writeFileSync(file(part), typeof content === 'string' ? content : JSON.stringify(content));
  write('containerd.toml', containerdConfig(folder));
  write('network/10-pods.conflist', networkConfig(at));
  write('kubelet.json', kubeletConfig);
  write('proxy.json', proxyConfig(name, configOf('system:kube-proxy')));
  const copies = settings.map((setting, index) => {
    write(`setting-${index}`, readFileSync(setting, 'utf8'));
    return `mount --bind ${file(`setting-${index}`)} ${setting}`;
  });
  const load = archives.map(
    (archive) => `ctr --address $socket --namespace k8s.io images import ${archive} >/dev/null`,
  );
  const kubelet = [
    ...['kubelet', `--config=${file('kubelet.json')}`, `--kubeconfig=${configOf(nodeUser(name))}`],
    ...[`--hostname-override=${name}`, `--node-ip=${addresses.node(at)}`],
    ...['--container-runtime=remote', '--container-runtime-endpoint=unix://$socket'],
    '--cert-dir=/var/lib/kubelet/pki',
  ];
  const script = `set -e
socket=/run/containerd/containerd.sock
# Of the machine's folders this node sees its own.
for each in /run /var/lib /var/log; do mount -t tmpfs node $each; done
mkdir -p /var/lib/kubelet /var/log/pods
${copies.join('\n')}
echo 1 >/proc/sys/net/ipv4/ip_forward
containerd --config ${file('containerd.toml')} &
until ctr --address $socket version >/dev/null 2>&1; do sleep 0.1; done
${load.join('\n')}
kube-proxy --config=${file('proxy.json')} &
exec ${kubelet.join(' ')}
`;
  write('start.sh', script);
  const inside = [
    ...['nsenter', `--net=/run/netns/${name}`],
    ...['unshare', '--mount', '--uts', '--time', `--monotonic=${at * clockShiftS}`],
    ...['--fork', '--kill-child'],
  ];
  return start(name, [...inside, 'sh', file('start.sh')]);
}
