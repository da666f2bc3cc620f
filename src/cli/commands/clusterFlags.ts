import {
  Kubectl,
  type ClusterAccess,
  type KubectlOptions,
} from '../../machines/kubernetes/kubectl';

/** Which cluster, and where in it. */
export interface PlaceFlags {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubectl?: string;
}

/** Tests put others in the place of kubectl. */
export interface PlaceDeps {
  readonly openKubectl?: (options: KubectlOptions) => ClusterAccess;
}

export const kubectlOf = (
  { namespace, context, kubectl }: PlaceFlags,
  { openKubectl = (options) => new Kubectl(options) }: PlaceDeps,
): ClusterAccess => openKubectl({ namespace, context, program: kubectl });
