/** Checks of a cluster: all of them for `doctor`, some before each run. */
import type { Job } from 'kubernetes-types/batch/v1';
import type { Pod } from 'kubernetes-types/core/v1';
import { ExpectedError } from '../../base/expectedError';
import { findServiceByHost } from '../../base/serviceTraits';
import { formatBytes, formatCount } from '../../base/units';
import { joinWords } from '../../scenario/text/words';
import { ClusterView, parseQuantity, type ClusterPlace, type Right } from './clusterView';
import type { ClusterAccess } from './kubectl';
import { ownedObjects, ownerJob, podTemplate, type ClusterRun } from './manifest';

interface Outcome {
  /** `note`: good to know, or unknown. `bad`: a run would not start. */
  readonly status: 'good' | 'note' | 'warning' | 'bad';
  readonly text: string;
  readonly advice?: string;
}

export type Finding = Outcome & { readonly check: string };

type Check = (view: ClusterView, run: ClusterRun) => Outcome[] | Promise<Outcome[]>;

const finding = (status: Outcome['status'], text: string, advice?: string): Outcome => ({
  status,
  text,
  ...(advice && { advice }),
});

const level = 'pod-security.kubernetes.io/enforce';

/**
 * Pods of a run keep to `restricted`, the strictest level, so that no namespace refuses them.
 * Source: Kubernetes documentation, "Pod Security Standards", heading "Restricted".
 */
async function checkNamespace(view: ClusterView): Promise<Outcome[]> {
  const { namespace } = await view.place();
  const enforced = (await view.labels())[level];
  const asks =
    enforced === undefined
      ? 'asks no Pod Security level'
      : `asks pods for Pod Security level ${enforced}`;
  return [finding('good', `${namespace} ${asks}; those of a run keep to restricted`)];
}

const needed: Readonly<Record<string, readonly string[]>> = {
  configmaps: ['create'],
  secrets: ['create'],
  services: ['create', 'get'],
  'deployments.apps': ['create', 'get', 'list', 'watch'],
  'jobs.batch': ['create', 'get', 'list', 'watch', 'delete'],
  'networkpolicies.networking.k8s.io': ['create'],
  pods: ['get', 'list'],
  'pods/portforward': ['create'],
};
/** A run starts without these; what is missing then. */
const useful: readonly (readonly [Right, string])[] = [
  [{ verb: 'get', resource: 'pods/log' }, 'agents logs needs it'],
  [{ verb: 'list', resource: 'events' }, 'why the cluster makes no pods is not known then'],
];

const rights = Object.entries(needed).flatMap(([resource, verbs]) =>
  verbs.map((verb): Right => ({ verb, resource })),
);

const rightWords = ({ verb, resource }: Right): string => `${verb} ${resource}`;

async function checkRights(view: ClusterView): Promise<Outcome[]> {
  const { namespace } = await view.place();
  const may = await view.may([...rights, ...useful.map(([right]) => right)]);
  const missing = rights.filter((_right, at) => may[at] !== true).map(rightWords);
  const notes = useful
    .filter((_right, at) => may[rights.length + at] !== true)
    .map(([right, missed]) =>
      finding('note', `You may not ${rightWords(right)}: ${missed}. A run does without.`),
    );
  const first =
    missing.length === 0
      ? finding('good', `all ${rights.length} that a run needs in namespace ${namespace}`)
      : finding(
          'bad',
          `You may not ${missing.join(', ')} in namespace ${namespace}.`,
          `Ask for these rights, or name another namespace${view.words.namespace}.`,
        );
  return [first, ...notes];
}

async function checkNodes(view: ClusterView, run: ClusterRun): Promise<Outcome[]> {
  const open = (await view.nodes()).filter(({ isOpen, isLinux }) => isOpen && isLinux);
  const cores = open.reduce((sum, node) => sum + node.cores, 0);
  const memory = open.reduce((sum, node) => sum + node.memoryBytes, 0);
  if (open.length === 0)
    return [
      finding(
        'warning',
        'No Linux node is ready for pods now.',
        'Where the cluster adds nodes by itself, agents wait for them; else add some.',
      ),
    ];
  const { agents } = run;
  const all = `${open.length} ready for pods, with ${coresWords(cores)} and ${memoryWords(memory)} for all pods`;
  const asked = askedCores(run);
  if (asked > cores)
    return [
      finding(
        'warning',
        `${all}; ${agents} agents and what leads them ask for ${coresWords(asked)}.`,
        'Use fewer agents, or add nodes: pods that find no place keep the run waiting.',
      ),
    ];
  return [
    agents > open.length
      ? finding(
          'note',
          `${all}. ${agents} agents share them: several on one node have one network, and its outbound ports, together.`,
        )
      : finding('good', all),
  ];
}

const askedCores = (run: ClusterRun): number =>
  [ownerJob(run), ...ownedObjects('', run)].reduce((sum, object) => {
    const { parallelism = 1 } = (object as Job).spec ?? {};
    const [container] = podTemplate(object)?.spec?.containers ?? [];
    return sum + parallelism * (parseQuantity(container?.resources?.requests?.['cpu']) ?? 0);
  }, 0);

const coresWords = (cores: number): string => `${rounded(cores)} ${cores === 1 ? 'core' : 'cores'}`;

const memoryWords = (bytes: number): string =>
  bytes < 2 ** 30 ? `${rounded(bytes / 2 ** 20)} MiB` : `${rounded(bytes / 2 ** 30)} GiB`;

const rounded = (amount: number): number => Math.round(amount * 100) / 100;

/**
 * Outbound ports of a machine for one frontend address of a public load balancer, by the number of machines.
 * Source: Azure Load Balancer, "Source Network Address Translation (SNAT) for outbound connections", heading "Default port
 * allocation table".
 */
const defaultPorts: readonly (readonly [upTo: number, ports: number])[] = [
  ...[[50, 1024] as const, [100, 512] as const, [200, 256] as const],
  ...[[400, 128] as const, [800, 64] as const, [Infinity, 32] as const],
];

/** Source: Azure Kubernetes Service, "Outbound network and FQDN rules for AKS clusters". */
const aksServer = /^https:\/\/[^/]+\.azmk8s\.io(:\d+)?\/?$/i;

const morePorts =
  'Where nodes go out by a load balancer, give them a NAT gateway, or more ports (az aks update --load-balancer-managed-outbound-ip-count --load-balancer-outbound-ports), or the service a private endpoint. Connections that time out in steps of so many are its signature.';

async function checkOutbound(
  view: ClusterView,
  { agents, connections, hosts = [] }: ClusterRun,
): Promise<Outcome[]> {
  const { server = '' } = await view.place();
  const isAksServer = aksServer.test(server);
  const nodes = await view.nodes().catch((error: unknown) => {
    if (isAksServer && error instanceof ExpectedError) return [];
    throw error;
  });
  if (!isAksServer && !nodes.some(({ isAks }) => isAks))
    return [finding('good', 'no limit is known: these are not nodes of AKS')];
  const [, ports] = defaultPorts.find(([upTo]) => nodes.length <= upTo)!;
  const perNode = `A node of AKS has ${formatCount(ports)} outbound ports to one public address by default`;
  const isPublic = hosts.some((host) => findServiceByHost(host) !== undefined);
  if (connections === undefined || (hosts.length > 0 && !isPublic)) {
    const most = `${perNode}: so many connections at most from one node to one service of Azure.`;
    return [finding('note', most, morePorts)];
  }
  const open = nodes.filter(({ isOpen }) => isOpen).length;
  const places = Math.max(1, nodes.length === 0 ? agents : Math.min(agents, open));
  const each = Math.ceil(connections / places);
  return [
    each <= ports
      ? finding(
          'good',
          `${formatCount(each)} connections from each node, ${formatCount(ports)} ports`,
        )
      : finding(
          'warning',
          `${perNode}, and ${formatCount(each)} connections would come from each.`,
          morePorts,
        ),
  ];
}

/** Source: Kubernetes documentation, "Secrets", heading "Constraints on Secret data": 1 MiB at most. Some of it is for keys. */
const mostBytes = 1_000_000;

function checkSize(_view: ClusterView, { files }: ClusterRun): Outcome[] {
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= mostBytes) return [];
  return [
    finding(
      'bad',
      `The scenario and the files that it names have ${formatBytes(bytes)}; ${formatBytes(mostBytes)} of them fit into a cluster.`,
      'Use smaller files: agents, wherever they are, take up to 1 MB of them.',
    ),
  ];
}

function checkBus(_view: ClusterView, { secretFiles = [] }: ClusterRun): Outcome[] {
  if (secretFiles.length === 0) return [];
  return [
    finding(
      'warning',
      `The bus of the run has no TLS: ${joinWords(secretFiles)} can be read by whoever listens on the network of the cluster.`,
      'Where others may listen there, sign tokens by a rule (identities.rule) with a key from a Secret.',
    ),
  ];
}

const notePolicy = (): Outcome[] => [
  finding(
    'note',
    'not known: a cluster does not say whether its network keeps policies. A run makes one, so that only its own pods reach its bus; elsewhere the key of the bus alone keeps others out.',
  ),
];

const noteImages = ({ words }: ClusterView, { image, busImage }: ClusterRun): Outcome[] => [
  finding(
    'note',
    `${image} (agents, coordinator) and ${busImage} (bus) will be pulled by the nodes.`,
    `A closed network needs mirrors of both${words.images}.`,
  ),
];

/** The cluster itself says whether it would take the objects. */
async function dryRun(view: ClusterView, run: ClusterRun): Promise<Outcome[]> {
  const objects = [ownerJob(run), ...ownedObjects('00000000-0000-0000-0000-000000000000', run)];
  // Quotas apply to pods, which controllers make.
  const pods = objects.flatMap((object): Pod[] => {
    const { metadata, spec } = podTemplate(object) ?? {};
    const named = { ...metadata, name: object.metadata!.name! };
    return spec ? [{ apiVersion: 'v1', kind: 'Pod', metadata: named, spec }] : [];
  });
  const [mayPods] = await view.may([{ verb: 'create', resource: 'pods' }]);
  await view.tryOut([...objects, ...(mayPods ? pods : [])]);
  const ofPods = mayPods ? ', and its pods one by one' : '';
  return [finding('good', `the cluster would take all objects of a run${ofPods}`)];
}

/** Worth knowing before each run; the others help to set a cluster up. */
const beforeRun: Readonly<Record<string, Check>> = {
  ...{ nodes: checkNodes, 'outbound ports': checkOutbound, size: checkSize, bus: checkBus },
};

const checks: Readonly<Record<string, Check>> = {
  namespace: checkNamespace,
  rights: checkRights,
  ...beforeRun,
  'network policy': notePolicy,
  images: noteImages,
  'dry run': dryRun,
};

/** A check without rights is a note, but for the dry run. */
async function lookInto(
  all: Readonly<Record<string, Check>>,
  view: ClusterView,
  run: ClusterRun,
): Promise<Finding[]> {
  const findings = Object.entries(all).map(async ([check, look]) => {
    try {
      return (await look(view, run)).map((each) => ({ check, ...each }));
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const isUnknown = error.code === 'cluster-rights' && look !== dryRun;
      const text = isUnknown ? 'not known: you may not read it.' : error.message;
      return [{ check, ...finding(isUnknown ? 'note' : 'bad', text) }];
    }
  });
  return (await Promise.all(findings)).flat();
}

export interface ClusterReport extends Partial<ClusterPlace> {
  readonly findings: readonly Finding[];
}

/** Runs every check; a kubectl that does not answer is a finding, too. */
export async function examineCluster(
  kubectl: ClusterAccess,
  namespace: string | undefined,
  run: ClusterRun,
): Promise<ClusterReport> {
  const view = new ClusterView(kubectl, namespace);
  let place: ClusterPlace | undefined;
  try {
    place = await view.place();
    const { client, server } = await view.versions();
    const { context, server: url } = place;
    const at = context === undefined ? 'inside a cluster' : `context ${context}`;
    const first = [
      { check: 'kubectl', ...finding('good', `${client}, ${at}`) },
      { check: 'server', ...finding('good', `${server}${url ? `, ${url}` : ''}`) },
    ];
    return { ...place, findings: [...first, ...(await lookInto(checks, view, run))] };
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const check = place === undefined ? 'kubectl' : 'server';
    return { ...place, findings: [{ check, ...finding('bad', error.message) }] };
  }
}

/** Warnings before a run. @throws ExpectedError `cluster-checks` with what keeps it from starting; `kubectl-…`, `cluster-…` */
export async function checkBeforeRun(
  kubectl: ClusterAccess,
  namespace: string | undefined,
  run: ClusterRun,
): Promise<string[]> {
  const view = new ClusterView(kubectl, namespace);
  // One question first, so that a sign-in is asked for once.
  const all = [...(await checkRights(view)), ...(await lookInto(beforeRun, view, run))];
  const textsOf = (status: Outcome['status']): string[] =>
    all.filter((each) => each.status === status).map(findingText);
  const bad = textsOf('bad');
  if (bad.length > 0) throw new ExpectedError('cluster-checks', bad.join(' '));
  return textsOf('warning');
}

const findingText = ({ text, advice }: Outcome): string =>
  advice === undefined ? text : `${text} ${advice}`;
