import type { AppServerOptions } from '../../servers/appServer/appServer';
import type { ServicePass } from '../../base/endpoint';
import { appServerVariable } from './appServerVariable';
import { startServerProcess } from '../serverProcess';
import type { ProblemListener } from '../target';

/** What a run says about its app servers. */
export type AppServerSettings = Omit<AppServerOptions, 'onProblem' | 'port'>;

/** App servers of a run, each in a process of its own. */
export interface AppServers {
  /** Hub URLs where clients negotiate, one per process. */
  readonly urls: readonly string[];
  /** From now on they make their tokens with this pass. */
  readonly renew: (pass: ServicePass) => void;
  /** Takes leave of the service and ends the processes. */
  dispose(): Promise<void>;
}

const served = { args: ['app-server'], name: 'app server', tells: 'url' } as const;

/**
 * Starts `count` app servers with the same settings.
 *
 * @param serverScript script that understands `serve`
 * @param onProblem told what goes wrong with one of them, from then on
 * @throws ExpectedError `local-hub` with why one of them did not start; none is left then
 */
export async function startAppServers(
  serverScript: string,
  settings: AppServerSettings,
  count: number,
  onProblem?: ProblemListener,
): Promise<AppServers> {
  const env = { [appServerVariable]: JSON.stringify(settings) };
  const starting = Array.from({ length: count }, () =>
    startServerProcess(serverScript, served, { env, onProblem }),
  );
  const outcomes = await Promise.allSettled(starting);
  const running = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const dispose = async (): Promise<void> => {
    await Promise.all(running.map((each) => each.dispose()));
  };
  const failed = outcomes.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await dispose();
    throw failed.reason;
  }
  return {
    urls: running.map(({ value }) => value),
    renew: (pass) => {
      for (const each of running) each.tell(pass);
    },
    dispose,
  };
}
