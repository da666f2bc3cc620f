/** The Kubernetes objects of a run; one Job owns them all. */
import type { Deployment } from 'kubernetes-types/apps/v1';
import type { Job, JobSpec } from 'kubernetes-types/batch/v1';
import type {
  ConfigMap,
  Container,
  EnvVar,
  PodSecurityContext,
  PodSpec,
  PodTemplateSpec,
  Secret,
  SecurityContext,
  Service,
} from 'kubernetes-types/core/v1';
import type { ObjectMeta } from 'kubernetes-types/meta/v1';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1';
import { inboxPrefix, streamName, runSubjects } from '../messages';

export type KubeObject = ConfigMap | Secret | NetworkPolicy | Service | Deployment | Job;

export interface ClusterRun {
  readonly run: string;
  readonly agents: number;
  /** Seconds of connecting, steps and drains. */
  readonly plannedS: number;
  readonly image: string;
  readonly busImage: string;
  readonly scenarioName: string;
  readonly files: Readonly<Record<string, string>>;
  /** Those of `files` that others should not read. */
  readonly secretFiles?: readonly string[];
  /** Arguments of the coordinator's `run`. */
  readonly flags: readonly string[];
  readonly bundle: Readonly<Record<string, Buffer>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly environment?: readonly string[];
  readonly ownSecret?: string;
  readonly keys: BusKeys;
  readonly agentMemoryMb?: number;
  readonly connections?: number;
  readonly hosts?: readonly string[];
}

const appName = 'signalr-bench';
const marginS = 1800;
const leftS = 600;
export const busWithinS = 180;
const usualMemoryMb = 1024;
/** High, so that a crashed container does not end healthy agents. */
const backoffLimit = 1000;
const folders = { bundle: '/bundle', scenario: '/scenario', work: '/work', bus: '/bus' } as const;

/** Unpacks the scripts and becomes the command line. */
const startScript = `const { mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { gunzipSync } = require('node:zlib');
const app = (process.env.SIGNALR_BENCH_WORK || '${folders.work}') + '/app';
mkdirSync(app, { recursive: true });
for (const name of readdirSync(__dirname))
  if (name.endsWith('.gz'))
    writeFileSync(app + '/' + name.slice(0, -3), gunzipSync(readFileSync(__dirname + '/' + name)));
process.argv[1] = app + '/cli.js';
require(process.argv[1]);
`;

export const ownerName = (run: string): string => `${appName}-${run}`;
export const busService = (run: string): string => `${ownerName(run)}-bus`;
export const keysName = (run: string): string => `${ownerName(run)}-keys`;
export const leadPasswordKey = 'leadPassword';
const labelsOf = (run: string, part: string): Record<string, string> => ({
  'app.kubernetes.io/name': appName,
  'app.kubernetes.io/component': part,
  [runLabel]: run,
});
export const runLabel = 'bench-run';
export const runSelector = (run: string): string => `${runLabel}=${run}`;

/**
 * Owns all other objects: a Job that is done at once. Its time to live removes everything, even when whoever made it is gone.
 * Source: Kubernetes documentation, "Automatic Cleanup for Finished Jobs"; "Jobs", heading "Job termination and cleanup".
 */
export function ownerJob(given: ClusterRun): Job {
  const { run, image } = given;
  const container: Container = {
    ...{ name: 'none', image, command: ['node', '--version'] },
    resources: smallest,
    securityContext: containerSecurity,
  };
  const template = templateOf(run, 'owner', { restartPolicy: 'Never', containers: [container] });
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job' },
    metadata: { name: ownerName(run), labels: labelsOf(run, 'owner') },
    spec: { ...jobOf(given, 1, template), ttlSecondsAfterFinished: deadlineS(given) + leftS },
  };
}

function scriptsOf({ bundle }: ClusterRun): Pick<ConfigMap, 'data' | 'binaryData'> {
  const binaryData = Object.fromEntries(
    Object.entries(bundle).map(([name, bytes]) => [`${name}.gz`, bytes.toString('base64')]),
  );
  return { data: { 'start.cjs': startScript }, binaryData };
}

export function ownedObjects(uid: string, given: ClusterRun): KubeObject[] {
  const { run } = given;
  const owner = {
    ...{ apiVersion: 'batch/v1', kind: 'Job', name: ownerName(run), uid },
    blockOwnerDeletion: false,
  };
  const metadata = (part: string): ObjectMeta => ({
    name: `${ownerName(run)}-${part}`,
    labels: labelsOf(run, part),
    ownerReferences: [owner],
  });
  const content: ConfigMap = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('files') },
    ...scriptsOf(given),
  };
  const selector = { matchLabels: labelsOf(run, 'bus') };
  const secret: Secret = {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: metadata('keys') },
    ...{ type: 'Opaque', stringData: secretsOf(given) },
  };
  const policy: NetworkPolicy = {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: metadata('bus') },
    spec: {
      podSelector: selector,
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: { [runLabel]: run } } }],
          ports: [{ protocol: 'TCP', port: busPort }],
        },
      ],
    },
  };
  const service: Service = {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: metadata('bus') },
    spec: { selector: selector.matchLabels, ports: [{ name: 'bus', port: busPort }] },
  };
  const bus: Deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata('bus') },
    spec: { replicas: 1, strategy: { type: 'Recreate' }, selector, template: busPod(given) },
  };
  const job = (part: string, spec: JobSpec): Job => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: metadata(part), spec },
  });
  return [
    ...[content, secret, policy, service, bus],
    // A second coordinator could only begin anew.
    job('lead', { ...jobOf(given, 1, leadPod(given)), backoffLimit: 0 }),
    job('agents', jobOf(given, given.agents, agentPod(given))),
  ];
}

export const podTemplate = (object: KubeObject): PodTemplateSpec | undefined =>
  object.kind === 'Job' || object.kind === 'Deployment' ? object.spec?.template : undefined;

const secretsOf = ({ run, keys, secrets, files }: ClusterRun): Record<string, string> => ({
  ...secrets,
  ...Object.fromEntries(Object.values(files).map((text, at) => [`file-${at}`, text])),
  'bus.conf': busConfig(run, keys, `${folders.bus}/data`),
  [leadPasswordKey]: keys.lead,
  agentPassword: keys.agent,
});

const deadlineS = ({ plannedS }: ClusterRun): number => Math.ceil(plannedS) + marginS;

const jobOf = (given: ClusterRun, count: number, template: PodTemplateSpec): JobSpec => ({
  ...{ parallelism: count, completions: count, backoffLimit },
  activeDeadlineSeconds: deadlineS(given),
  ttlSecondsAfterFinished: leftS,
  template,
});

/** No root, a read-only root file system, no key of the cluster. */
const podSecurity: PodSecurityContext = {
  runAsNonRoot: true,
  ...{ runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
  seccompProfile: { type: 'RuntimeDefault' },
};
const containerSecurity: SecurityContext = {
  ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
  capabilities: { drop: ['ALL'] },
};

const smallest = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } };

function templateOf(run: string, part: string, spec: PodSpec): PodTemplateSpec {
  return {
    metadata: { labels: labelsOf(run, part) },
    spec: {
      ...{ automountServiceAccountToken: false, enableServiceLinks: false },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      securityContext: podSecurity,
      ...spec,
    },
  };
}

function busPod({ run, busImage }: ClusterRun): PodTemplateSpec {
  const container: Container = {
    ...{ name: 'bus', image: busImage, args: ['--config', `${folders.bus}/config/bus.conf`] },
    ports: [{ containerPort: busPort }],
    readinessProbe: { tcpSocket: { port: busPort }, periodSeconds: 1 },
    resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '1Gi' } },
    securityContext: containerSecurity,
    volumeMounts: [
      { name: 'config', mountPath: `${folders.bus}/config`, readOnly: true },
      { name: 'data', mountPath: `${folders.bus}/data` },
    ],
  };
  const items = [{ key: 'bus.conf', path: 'bus.conf' }];
  return templateOf(run, 'bus', {
    containers: [container],
    volumes: [
      { name: 'config', secret: { secretName: keysName(run), items } },
      { name: 'data', emptyDir: { sizeLimit: `${mostStoredGb + 1}Gi` } },
    ],
  });
}

function nodePod(
  given: ClusterRun,
  part: 'lead' | 'agents',
  words: readonly string[],
  user: { readonly name: string; readonly key: string },
  more: Partial<PodSpec> = {},
): PodTemplateSpec {
  const { run, image, files, ownSecret, secrets, agentMemoryMb = usualMemoryMb } = given;
  const keys = keysName(run);
  const fromSecret = (name: string, key: string): EnvVar => ({
    name,
    valueFrom: { secretKeyRef: { name: keys, key } },
  });
  const container: Container = {
    ...{ name: part, image, command: ['node', `${folders.bundle}/start.cjs`, ...words] },
    workingDir: folders.work,
    env: [
      { name: 'SIGNALR_BENCH_BUS', value: `nats://${busService(run)}:${busPort}` },
      // All pods start together: one that gave up would be restarted, later each time.
      { name: 'SIGNALR_BENCH_BUS_WITHIN', value: `${busWithinS}s` },
      { name: 'SIGNALR_BENCH_BUS_USER', value: user.name },
      fromSecret('SIGNALR_BENCH_BUS_PASSWORD', user.key),
      {
        name: 'SIGNALR_BENCH_NODE',
        valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } },
      },
      ...Object.keys(secrets).map((name) => fromSecret(name, name)),
    ],
    ...(ownSecret !== undefined && { envFrom: [{ secretRef: { name: ownSecret } }] }),
    resources: {
      requests: { cpu: part === 'agents' ? '500m' : '200m', memory: '128Mi' },
      limits: { memory: `${agentMemoryMb}Mi` },
    },
    securityContext: containerSecurity,
    volumeMounts: [
      { name: 'bundle', mountPath: folders.bundle, readOnly: true },
      { name: 'scenario', mountPath: folders.scenario, readOnly: true },
      { name: 'work', mountPath: folders.work },
    ],
  };
  const items = Object.keys(files).map((path, at) => ({ key: `file-${at}`, path }));
  return templateOf(run, part, {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    ...more,
    containers: [container],
    volumes: [
      { name: 'bundle', configMap: { name: `${ownerName(run)}-files` } },
      { name: 'scenario', secret: { secretName: keys, items } },
      { name: 'work', emptyDir: {} },
    ],
  });
}

function leadPod(given: ClusterRun): PodTemplateSpec {
  const { run, agents, scenarioName, flags } = given;
  const file = `${folders.scenario}/${scenarioName}`;
  const on = ['--on', 'hosts', '--agents', `${agents}`, '--run', run, '--publish', '--yes'];
  const words = ['run', file, ...on, '--out', `${folders.work}/results`, ...flags];
  return nodePod(given, 'lead', words, { name: leadUser, key: leadPasswordKey });
}

function agentPod(given: ClusterRun): PodTemplateSpec {
  const user = { name: agentUser, key: 'agentPassword' };
  const { run, environment = [] } = given;
  const words = ['agent', '--run', run, ...environment.flatMap((name) => ['--env', name])];
  const spread = {
    ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    labelSelector: { matchLabels: labelsOf(given.run, 'agents') },
  };
  return nodePod(given, 'agents', words, user, {
    topologySpreadConstraints: [spread],
  });
}

export const busPort = 4222;
export const leadUser = 'lead';
/** Fifty agents report about 2 GB in an hour. */
const mostStoredGb = 8;
export const agentUser = 'agent';

interface BusKeys {
  readonly lead: string;
  readonly agent: string;
}

/** Configuration of `nats-server`: who may write and read what. */
export function busConfig(run: string, keys: BusKeys, folder: string): string {
  const { join, clock, alive, beats, log, members, lead, facts } = runSubjects(run);
  const stream = streamName(log);
  const publish = [
    ...[join, clock, `${beats}.*`, `${members}.*`, `${facts}.*`],
    // May read single orders only: a consumer of the stream could be made to write elsewhere.
    ...['$JS.API.INFO', `$JS.API.DIRECT.GET.${stream}.${lead}.*`],
  ];
  const list = (subjects: readonly string[]): string => JSON.stringify(subjects);
  return `port: ${busPort}
max_payload: 1MB
jetstream { store_dir: ${JSON.stringify(folder)}, max_file_store: ${mostStoredGb}GB }
authorization {
  users: [
    { user: ${leadUser}, password: ${JSON.stringify(keys.lead)} }
    {
      user: ${agentUser}, password: ${JSON.stringify(keys.agent)}
      permissions {
        publish: { allow: ${list(publish)} }
        subscribe: { allow: ${list([`${inboxPrefix(agentUser)}.>`, alive, `${lead}.*`])} }
      }
    }
  ]
}
`;
}
