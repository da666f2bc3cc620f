// Gets what the test cluster is made of into a folder, once: Debian's packages, unpacked there, and the parts of a
// Kubernetes server, built from Debian's source package because no package has them. Nothing is installed.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { root } from '../nodeProgram.mjs';

/** Takes 1 GB while it is made, and half of that afterwards. */
export const folder = path.resolve(
  process.env.SIGNALR_BENCH_CLUSTER ?? path.join(root, 'out', 'cluster'),
);
/** Of the packages. */
const unpacked = path.join(folder, 'root');
const built = path.join(folder, 'bin');

/** Debian's release whose packages go together: Go 1.19 builds Kubernetes 1.20. */
const release = 'bookworm';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
const kubernetesVersion = 'v1.20.2';
const servers = [
  ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy', 'kubelet'],
];
const compiler = ['golang-1.19-go', 'golang-1.19-src'];
const packages = [
  ...['etcd-server', 'containerd', 'runc', 'containernetworking-plugins', 'kubernetes-client'],
  ...['nats-server', 'iptables', 'conntrack', 'libseccomp2', 'libip4tc2', 'libip6tc2', 'libmnl0'],
  ...['libxtables12', 'libnftnl11', 'libnfnetlink0', 'libnetfilter-conntrack3'],
];

/** Where programs are looked for first, and their libraries. */
export const environment = {
  PATH: [
    built,
    ...['usr/sbin', 'usr/bin'].map((each) => path.join(unpacked, each)),
    process.env.PATH,
  ].join(':'),
  LD_LIBRARY_PATH: path.join(unpacked, 'usr', 'lib', 'x86_64-linux-gnu'),
  XTABLES_LIBDIR: path.join(unpacked, 'usr', 'lib', 'x86_64-linux-gnu', 'xtables'),
};
export const networkPlugins = path.join(unpacked, 'usr', 'lib', 'cni');
export const natsServer = path.join(unpacked, 'usr', 'sbin', 'nats-server');
export const pauseProgram = path.join(built, 'pause');

/** Why there can be no cluster on this machine; undefined when there can. */
export function unfit() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it needs Linux on x64';
  if (process.getuid() !== 0) return 'it needs root, for namespaces of its own';
  if (!existsSync('/etc/debian_version')) return 'it needs apt, with the packages of Debian';
  if (!existsSync('/sys/fs/cgroup/memory')) return 'it needs control groups of version 1';
  return undefined;
}

/** @throws Error with the last that the program said */
export function run(words, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(words[0], words.slice(1), {
    ...{ encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    ...options,
  });
  if (status === 0) return stdout;
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-8).join('\n');
  throw new Error(`${path.basename(words[0])} ${words[1]} failed: ${error?.message ?? said}`);
}

/** apt with lists and a cache of its own: that of the machine stays as it is, and needs no sources. */
function ownApt() {
  const at = path.join(folder, 'apt');
  for (const part of ['lists/partial', 'archives/partial'])
    mkdirSync(path.join(at, part), { recursive: true });
  const from = `[signed-by=${keyring}] http://deb.debian.org/debian ${release} main`;
  const sources = path.join(at, 'sources.list');
  writeFileSync(sources, `deb ${from}\ndeb-src ${from}\n`);
  const config = path.join(at, 'apt.conf');
  writeFileSync(
    config,
    `Dir::Etc::SourceList "${sources}"; Dir::Etc::SourceParts "-";
Dir::State::Lists "${at}/lists"; Dir::Cache "${at}"; Dir::Cache::Archives "${at}/archives";
APT::Sandbox::User "root";
`,
  );
  const env = { ...process.env, APT_CONFIG: config };
  const apt = (...words) => run(['apt-get', '-qq', ...words], { cwd: at, env });
  apt('update');
  return { at, apt };
}

function unpack({ at, apt }, names) {
  apt('download', ...names);
  for (const file of readdirSync(at).filter((name) => name.endsWith('.deb'))) {
    run(['dpkg', '--extract', path.join(at, file), unpacked]);
    rmSync(path.join(at, file));
  }
}

/** By the names that Kubernetes calls them. */
function linkFirewall() {
  for (const family of ['iptables', 'ip6tables'])
    for (const name of [family, `${family}-save`, `${family}-restore`]) {
      const link = path.join(built, name);
      rmSync(link, { force: true });
      symlinkSync(path.join('..', 'root', 'usr', 'sbin', 'xtables-nft-multi'), link);
    }
}

/** Where Go looks for Kubernetes, as it is written for a time without modules. */
const goPath = path.join(folder, 'go');
const source = path.join(goPath, 'src', 'k8s.io', 'kubernetes');

function unpackSource({ at, apt }) {
  if (existsSync(source)) return;
  apt('source', '--download-only', 'kubernetes');
  const archive = readdirSync(at).find((name) => /^kubernetes_.*\.orig\.tar\.gz$/.test(name));
  const partial = `${source}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const words = ['tar', '--extract', '--file', path.join(at, archive), '--directory', partial];
  run([...words, '--strip-components=1']);
  quicken(path.join(partial, 'pkg', 'kubelet', 'kubelet.go'));
  renameSync(partial, source);
}

/** This kubelet keeps a pod that has ended until what held its namespaces is collected: each second, not each minute. */
function quicken(file) {
  const text = readFileSync(file, 'utf8');
  const quick = text.replace('ContainerGCPeriod = time.Minute', 'ContainerGCPeriod = time.Second');
  if (quick === text) throw new Error(`${file} collects at another pace`);
  writeFileSync(file, quick);
}

const goRoot = path.join(unpacked, 'usr', 'lib', 'go-1.19');

function go(words) {
  const env = {
    ...process.env,
    ...{ GOROOT: goRoot, GOPATH: goPath, GOCACHE: path.join(folder, 'gocache') },
    ...{ GO111MODULE: 'off', CGO_ENABLED: '0', GOFLAGS: '-trimpath', HOME: folder },
  };
  return run([path.join(goRoot, 'bin', 'go'), ...words], { cwd: source, env });
}

/** Where types stand that the server describes to its clients: one description of all of them is generated. */
function described() {
  const words = ['--recursive', '--files-with-matches', '--include=*.go', '+k8s:openapi-gen='];
  const places = ['pkg', 'cmd', 'plugin', 'staging/src'];
  const files = run(['grep', ...words, ...places], { cwd: source })
    .trim()
    .split('\n');
  const marked = files.filter(
    (file) =>
      !/code-generator\/|sample-apiserver\//.test(file) &&
      /^\/\/ *\+k8s:openapi-gen=/m.test(readFileSync(path.join(source, file), 'utf8')),
  );
  const folders = marked.map((file) => path.dirname(file).replace(/^staging\/src\//, 'vendor/'));
  return [...new Set(folders)].sort().map((each) => `k8s.io/kubernetes/${each}`);
}

function generate() {
  const generator = path.join(built, 'openapi-gen');
  go(['build', '-o', generator, './vendor/k8s.io/kube-openapi/cmd/openapi-gen']);
  const words = [
    ...['--input-dirs', described().join(',')],
    ...['--output-package', 'k8s.io/kubernetes/pkg/generated/openapi'],
    ...['--output-file-base', 'zz_generated.openapi'],
    ...['--go-header-file', 'hack/boilerplate/boilerplate.generatego.txt'],
    ...['--report-filename', path.join(folder, 'violations.txt')],
  ];
  const env = { ...process.env, GOROOT: goRoot, GOPATH: goPath, GO111MODULE: 'off' };
  const places = { PATH: `${goRoot}/bin:${process.env.PATH}`, HOME: folder };
  run([generator, ...words], { cwd: source, env: { ...env, ...places } });
  rmSync(generator);
}

function build(name) {
  const version = { gitVersion: kubernetesVersion, gitMajor: '1', gitMinor: '20' };
  const flags = ['client-go/pkg/version', 'component-base/version'].flatMap((part) =>
    Object.entries(version).map(
      ([key, value]) => `-X k8s.io/kubernetes/vendor/k8s.io/${part}.${key}=${value}`,
    ),
  );
  const linked = ['-ldflags', ['-s', '-w', ...flags].join(' ')];
  const partial = path.join(built, `${name}.partial`);
  go(['build', '-installsuffix', 'static', ...linked, '-o', partial, `./cmd/${name}`]);
  renameSync(partial, path.join(built, name));
}

/** What a pod holds its namespaces with: waits to be ended. */
const pauseSource = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}
`;

function buildPause() {
  const file = path.join(goPath, 'pause.go');
  writeFileSync(file, pauseSource);
  go(['build', '-ldflags', '-s -w', '-o', pauseProgram, file]);
}

/**
 * Makes what is not there yet.
 *
 * @param {(text: string) => void} say hears what takes long
 * @throws Error with what the program said that failed
 */
export function preparePrograms(say) {
  const missing = servers.filter((name) => !existsSync(path.join(built, name)));
  const ready = path.join(folder, 'ready');
  if (existsSync(ready) && missing.length === 0) return;
  mkdirSync(built, { recursive: true });
  say(`gets the packages of a cluster into ${folder}`);
  const apt = ownApt();
  unpack(apt, packages);
  linkFirewall();
  if (missing.length > 0 || !existsSync(pauseProgram)) {
    say(`builds Kubernetes ${kubernetesVersion}, once: about ten minutes, and 4 GB for as long`);
    unpack(apt, compiler);
    unpackSource(apt);
    generate();
    for (const name of missing) {
      say(`builds ${name}`);
      build(name);
    }
    buildPause();
  }
  // What it was made with and of.
  for (const part of ['apt', 'gocache', 'go', 'root/usr/share/go-1.19', 'root/usr/lib/go-1.19'])
    rmSync(path.join(folder, part), { recursive: true, force: true });
  writeFileSync(ready, '');
}
