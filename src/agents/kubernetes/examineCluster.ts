/** What `doctor` says of a cluster, and what keeps a run from being started there: the same checks. */
import { ExpectedError } from '../../base/expectedError';
import { lookWith, type ClusterCheck, type Finding } from './checks/check';
import { dryRunCheck, namespaceCheck, rightsCheck } from './checks/accessChecks';
import {
  imagesCheck,
  networkPolicyCheck,
  openBusCheck,
  outboundCheck,
} from './checks/networkChecks';
import { nodesCheck, sizeCheck } from './checks/roomChecks';
import { ClusterView, type ClusterPlace } from './clusterView';
import type { ClusterAccess } from './kubectl';
import type { ClusterRun } from './manifest';

/** In the order in which they are shown. */
const checks: readonly ClusterCheck[] = [
  ...[namespaceCheck, rightsCheck, nodesCheck, outboundCheck, sizeCheck],
  ...[openBusCheck, networkPolicyCheck, imagesCheck, dryRunCheck],
];

export type NamedFinding = Finding & { readonly check: string };

export interface ClusterReport extends Partial<ClusterPlace> {
  readonly findings: readonly NamedFinding[];
}

/** All that can be found out; what keeps kubectl from answering is a finding, too. */
export async function examineCluster(
  kubectl: ClusterAccess,
  namespace: string | undefined,
  run: ClusterRun,
): Promise<ClusterReport> {
  const view = new ClusterView(kubectl, namespace);
  const findings: NamedFinding[] = [];
  let place: ClusterPlace | undefined;
  try {
    place = await view.place();
    const { client, server } = await view.versions();
    const { context, server: url } = place;
    const at = context === undefined ? 'inside a cluster' : `context ${context}`;
    findings.push(
      { check: 'kubectl', status: 'good', text: `${client}, ${at}` },
      { check: 'server', status: 'good', text: `${server}${url ? `, ${url}` : ''}` },
    );
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const check = place === undefined ? 'kubectl' : 'server';
    return { ...place, findings: [{ check, status: 'bad', text: error.message }] };
  }
  const found = await Promise.all(
    checks.map(async (check) =>
      (await lookWith(check, view, run)).map((each) => ({ check: check.name, ...each })),
    ),
  );
  return { ...place, findings: [...findings, ...found.flat()] };
}

/**
 * What is worth knowing before a run, a text for each.
 * @throws ExpectedError `cluster-checks` with what keeps it from being started; `kubectl-…`, `cluster-…` when nothing answers
 */
export async function checkBeforeRun(
  kubectl: ClusterAccess,
  namespace: string | undefined,
  run: ClusterRun,
): Promise<string[]> {
  const view = new ClusterView(kubectl, namespace);
  // The first question alone: whoever has to sign in shall be asked once.
  const rights = await rightsCheck.look(view, run);
  const others = checks.filter((check) => check !== rightsCheck && check.isForDoctor !== true);
  const found = await Promise.all(others.map((check) => lookWith(check, view, run)));
  const all = [...rights, ...found.flat()];
  const textsOf = (status: Finding['status']): string[] =>
    all.filter((each) => each.status === status).map(findingText);
  const bad = textsOf('bad');
  if (bad.length > 0) throw new ExpectedError('cluster-checks', bad.join(' '));
  return textsOf('warning');
}

export const findingText = ({ text, advice }: Finding): string =>
  advice === undefined ? text : `${text} ${advice}`;
