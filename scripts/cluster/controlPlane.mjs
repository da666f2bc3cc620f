// The control plane of the test cluster: etcd and the servers of Kubernetes in the network namespace of this process.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import { addresses } from './network.mjs';

const port = 6443;
const server = `https://${addresses.plane}:${port}`;
/** Newer clusters remove finished jobs by themselves; this one is asked to. */
const gates = '--feature-gates=TTLAfterFinished=true';

/** Names by which programs are known, with the groups that give them rights. */
const users = {
  admin: 'system:masters',
  // A person who gets rights in one namespace after the other.
  tester: '',
  'system:kube-controller-manager': '',
  'system:kube-scheduler': '',
  'system:kube-proxy': '',
};
export const nodeUser = (name) => `system:node:${name}`;

function kubeconfig(token) {
  const cluster = { server, 'insecure-skip-tls-verify': true };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}

/** What is asked of the API server as its administrator. */
export class Api {
  constructor(token) {
    this.token = token;
  }

  get(where) {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.token}` };
      // The certificate is one that the server has made for itself.
      const asked = request(`${server}${where}`, { headers, rejectUnauthorized: false });
      asked.once('error', reject);
      asked.once('response', async (response) => {
        let text = '';
        for await (const part of response.setEncoding('utf8')) text += part;
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${where}: ${response.statusCode} ${text.slice(0, 300)}`));
      });
      asked.end();
    });
  }

  async list(where) {
    return JSON.parse(await this.get(where)).items;
  }
}

/**
 * @param {string} folder for keys and data
 * @param {string[]} nodes
 * @param {(name: string, words: string[]) => void} start begins a program of the cluster
 * @returns {{ api: Api, configOf: (user: string) => string }} a file for `--kubeconfig` by user
 */
export function startControlPlane(folder, nodes, start) {
  mkdirSync(folder, { recursive: true });
  const file = (name) => path.join(folder, name);
  const all = { ...users, ...Object.fromEntries(nodes.map((n) => [nodeUser(n), 'system:nodes'])) };
  const tokens = new Map(Object.keys(all).map((name) => [name, randomBytes(16).toString('hex')]));
  const lines = Object.entries(all).map(
    ([name, group]) => `${tokens.get(name)},${name},${name}${group && `,"${group}"`}`,
  );
  writeFileSync(file('tokens.csv'), `${lines.join('\n')}\n`);
  const configs = new Map(
    [...tokens].map(([name, token]) => {
      const at = file(`${name.replaceAll(':', '-')}.json`);
      writeFileSync(at, kubeconfig(token));
      return [name, at];
    }),
  );
  const configOf = (user) => configs.get(user);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(file('accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(file('accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  const etcd = 'http://127.0.0.1:2379';
  start('etcd', [
    ...['etcd', `--data-dir=${file('etcd')}`, '--log-level=warn', '--logger=zap'],
    ...[`--listen-client-urls=${etcd}`, `--advertise-client-urls=${etcd}`],
    '--listen-peer-urls=http://127.0.0.1:2380',
  ]);
  start('apiserver', [
    ...['kube-apiserver', `--etcd-servers=${etcd}`, `--cert-dir=${file('certificates')}`],
    ...[`--bind-address=${addresses.plane}`, `--advertise-address=${addresses.plane}`],
    ...[`--secure-port=${port}`, `--service-cluster-ip-range=${addresses.services}`],
    ...[`--token-auth-file=${file('tokens.csv')}`, '--authorization-mode=Node,RBAC'],
    ...[`--service-account-key-file=${file('accounts.pub')}`],
    ...[`--service-account-signing-key-file=${file('accounts.key')}`],
    ...['--service-account-issuer=https://cluster.local', gates],
    // The name service knows services only.
    '--kubelet-preferred-address-types=InternalIP',
  ]);
  const asController = `--kubeconfig=${configOf('system:kube-controller-manager')}`;
  start('controllers', [
    ...['kube-controller-manager', asController, '--leader-elect=false', gates],
    `--service-account-private-key-file=${file('accounts.key')}`,
    ...[`--cert-dir=${file('controllers')}`, '--use-service-account-credentials=true'],
  ]);
  const asScheduler = `--kubeconfig=${configOf('system:kube-scheduler')}`;
  start('scheduler', ['kube-scheduler', asScheduler, '--leader-elect=false']);
  return { api: new Api(tokens.get('admin')), configOf };
}
