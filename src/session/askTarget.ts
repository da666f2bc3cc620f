import type { Plan } from '../plan/plan';
import type { LoadBeyond, OpenTarget } from '../targets/target';
import { behindOf } from '../scenario/target/targetKinds';
import type { Endpoint } from '../base/endpoint';
import type { HubAnswer } from '../wire/connect/probeHub';
import { agreedDialect } from './agreedDialect';
import { agreedTarget } from './agreedTarget';

/** Ways to ask a hub something; all that is asked at once shares one time-out. */
export interface TargetQuestions {
  readonly askHub: (
    endpoint: Endpoint,
    methods: readonly string[],
    withinMs: number,
  ) => Promise<HubAnswer | undefined>;
  readonly redirectHosts: (endpoint: Endpoint, withinMs: number) => Promise<readonly string[]>;
  /** Told when the target has been silent for a moment; `over` settles when nothing is waited for any more. */
  readonly waiting?: (url: string, withinMs: number, over: Promise<void>) => void;
}

/** A target that load may be put on, and the plan for it. */
export interface AskedTarget {
  readonly target: OpenTarget;
  readonly plan: Plan;
  /** How long the target was asked, which counts against the time in which it has to answer at all. */
  readonly askedMs: number;
}

/** Silence after which somebody is told what is waited for. */
const silenceMs = 1000;
const shortestMs = 3000;
const longestMs = 10_000;
/** Asking and one connect together stay below the time after which a silent target is given up. */
const bothMs = 21_500;

/** Time a target has to answer what is asked before a run. */
export const askMs = ({ connectTimeoutMs }: Pick<Plan, 'connectTimeoutMs'>): number =>
  Math.min(longestMs, Math.max(shortestMs, bothMs - connectTimeoutMs));

/**
 * Asks all there is to ask before a run, at once: where hubs on this machine redirect to, whether load may
 * go there, and which dialect they speak.
 *
 * @param agree settles with whether load on the hosts is wanted; absent when nobody needs to be asked
 * @returns undefined when it is not
 * @throws ExpectedError as {@link agreedDialect}
 */
export async function askTarget(
  opened: OpenTarget,
  plan: Plan,
  agree: ((beyond: LoadBeyond) => Promise<boolean>) | undefined,
  questions: TargetQuestions,
): Promise<AskedTarget | undefined> {
  const withinMs = askMs(plan);
  let askedMs = 0;
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    try {
      return await telling(work, () => {
        const over = work.then(ignore, ignore);
        questions.waiting?.(opened.url, withinMs, over);
      });
    } finally {
      askedMs += performance.now() - startedMs;
    }
  };
  const planFor = (target: OpenTarget): Promise<Plan> =>
    agreedDialect(plan, target, (endpoint, methods) =>
      questions.askHub(endpoint, methods, withinMs),
    );
  const mayRedirect = agree !== undefined && opened.hostsBeyond.length === 0;
  if (!mayRedirect) {
    // Beyond this machine nothing is reached before somebody has agreed.
    const target = agree ? await agreedTarget(opened, agree, () => Promise.resolve([])) : opened;
    return target && { target, plan: await timed(planFor(target)), askedMs };
  }
  const staying = { ...opened, endpoint: { ...opened.endpoint, staysOnLoopback: true } };
  const needsHosts = behindOf(opened) !== 'ownServer' && opened.agreed !== true;
  const [hosts, planned] = await timed(
    Promise.all([
      needsHosts ? questions.redirectHosts(opened.endpoint, withinMs) : [],
      planFor(staying),
    ]),
  );
  const target = await agreedTarget(opened, agree, () => Promise.resolve(hosts));
  if (target === undefined) return undefined;
  return { target, plan: hosts.length > 0 ? await timed(planFor(target)) : planned, askedMs };
}

/** Waits, and tells after a moment that it does. */
async function telling<T>(work: Promise<T>, tell: () => void): Promise<T> {
  const timer = setTimeout(tell, silenceMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

const ignore = (): void => undefined;
