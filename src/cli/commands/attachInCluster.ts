import { busOf } from '../../machines/kubernetes/clusterRuns';
import { connectBus } from '../../session/connectBus';
import type { ViewParts } from '../../session/viewedRun';
import type { ProcessIo } from '../io';
import { busName, showRun, type ShowFlags } from './attachCommand';
import { kubectlOf, type PlaceDeps, type PlaceFlags } from './clusterFlags';

/** Shows a run of a cluster that somebody else has started, or who is gone, and leaves it as it is. */
export async function attachInCluster(
  run: string,
  flags: PlaceFlags & ShowFlags,
  io: ProcessIo,
  deps: ViewParts & PlaceDeps,
): Promise<number> {
  const { address, forwarding } = await busOf(kubectlOf(flags, deps), run);
  try {
    const bus = await connectBus({ ...address, name: busName });
    try {
      return await showRun(bus, run, flags, io, deps);
    } finally {
      await bus.close();
    }
  } finally {
    forwarding.close();
  }
}
