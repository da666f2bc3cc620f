import type { ClusterPlace } from '../../machines/kubernetes/clusterView';
import type { ClusterWords } from '../../machines/kubernetes/clusterWords';
import {
  Kubectl,
  type ClusterAccess,
  type KubectlOptions,
} from '../../machines/kubernetes/kubectl';

/** Which cluster, and where in it. */
export interface PlaceFlags {
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
  readonly kubectl?: string | undefined;
}

/** Tests put others in the place of kubectl. */
export interface PlaceDeps {
  readonly openKubectl?: (options: KubectlOptions) => ClusterAccess;
}

export const kubectlOf = (
  { namespace, context, kubectl }: PlaceFlags,
  { openKubectl = (options) => new Kubectl(options) }: PlaceDeps,
): ClusterAccess => openKubectl({ namespace, context, program: kubectl, words: flagWords });

export const flagWords: ClusterWords = {
  ...{ namespace: ' with --namespace', context: ' with --context' },
  agents: (most) => ` (--agents ${most})`,
  images: ': --image and --bus-image',
  runs: ': agents list shows those there are',
};

/** `namespace load of aks-load`. */
export const placeWords = ({ context = 'this cluster', namespace }: ClusterPlace): string =>
  `namespace ${namespace} of ${context}`;
