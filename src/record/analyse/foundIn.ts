import { addCount, getOrCreate } from '../../base/collect';
import { formatCount } from '../../base/units';
import { secretNamesIn } from '../writtenKeys';
import type { Analysis } from './analysis';
import { excludesCaller, type MethodCallback } from './methodCallbacks';
import { peakClients, totalStayUs } from './connectionPlan';
import type { Findings, FoundCall, FoundCallback } from './findings';
import { callStepsIn, type CallStep } from './kinds';
import { perCallWords, audienceWords, whyOnlyCounted } from './plannedSteps';
import type { SessionFacts } from './sessionFacts';

/** What was recognised of a recording of a hub. @param callbacks see {@link findCallbacks} */
export function findingsOf(
  analysis: Analysis,
  facts: SessionFacts,
  callbacks: readonly FoundCallback[],
): Findings {
  const { trace, header, kinds, target, secretKeys, identities, leftOut } = analysis;
  const { clients, messages, endUs } = trace;
  return {
    target,
    startedAt: header.startedAt,
    kind: header.kind,
    clients: clients.length,
    messages,
    transports: [...new Set(clients.map(({ open }) => open.transport))],
    protocols: [...new Set(clients.map(({ open }) => open.protocol))],
    clientsAtOnce: peakClients(clients),
    clientSeconds: totalStayUs(clients, endUs) / 1_000_000,
    seconds: endUs / 1_000_000,
    kinds: kinds.map(({ steps, sessions, unfinished, ...kind }) => ({
      clients: kind.clients.length,
      sessions,
      unfinished,
      calls: [...new Set(callStepsIn(steps).map(({ method }) => method))],
    })),
    calls: callsFound(analysis, facts),
    callbacks,
    notRecognised: [...leftOut].map(([what, times]) => ({ what, count: times })),
    secrets: [target, ...Object.values(secretKeys)]
      .flatMap(secretNamesIn)
      .concat(identities.secrets),
  };
}

function callsFound(analysis: Analysis, facts: SessionFacts): FoundCall[] {
  const found = new Map<string, { count: number; as: Set<string> }>();
  for (const step of analysis.kinds.flatMap(({ steps }) => callStepsIn(steps))) {
    const each = getOrCreate(found, step.method, () => ({ count: 0, as: new Set<string>() }));
    each.count += step.calls.length;
    each.as.add(callWords(step, analysis, facts));
  }
  return [...found].map(([method, { count: times, as }]) => ({
    method,
    count: times,
    as: [...as].join('; '),
  }));
}

function callWords(step: CallStep, analysis: Analysis, facts: SessionFacts): string {
  const { reply, callback } = facts.answering(step);
  if (step.form === 'stream') return 'stream';
  const change = analysis.groupChange(step);
  if (change !== undefined) return change === 'join' ? 'joins a room' : 'leaves a room';
  if (reply === 'callback') return `answered by ${callback!}`;
  return reply === 'completion' ? 'answered' : 'sent, no answer';
}

/** What the hub called, why, and whether a step counts it. */
export function findCallbacks(
  { consequences, greetings, rooms, trace }: Analysis,
  facts: SessionFacts,
): FoundCallback[] {
  const causes = new Map<string, MethodCallback>();
  for (const each of consequences)
    if (each.count > (causes.get(each.target)?.count ?? 0)) causes.set(each.target, each);
  const all = new Map<string, number>();
  for (const { target } of trace.callbacks) addCount(all, target);
  const expected = facts.expectedCallbacks;
  const toWhom = (cause: MethodCallback): string => {
    if (!rooms.heard.has(cause)) return audienceWords[cause.audience];
    return excludesCaller(cause.audience) ? 'to the others in the room' : 'to the room';
  };
  return [...all].map(([target, times]) => {
    const cause = causes.get(target);
    const isKept = facts.isKeptFrom(target);
    const recognised = isKept || expected.has(target);
    const perSecond = times / (Math.max(1, trace.endUs) / 1_000_000);
    const often = recognised ? '' : `, ${formatCount(perSecond, perSecond < 0.1 ? 2 : 1)}/s`;
    const use = isKept ? '; later calls have a value of it' : '';
    const seen = { target, count: times, perSecond, recognised };
    if (cause === undefined) {
      const when = greetings.has(target)
        ? 'once to each client, soon after it connected'
        : 'no call was found that caused it';
      return { ...seen, as: `${when}${often}${use}` };
    }
    const after = `${toWhom(cause)}, after ${cause.method}`;
    const each = recognised ? '' : `: ${perCallWords(cause)}${often}`;
    const why = recognised ? use : `; only its number is counted${whyOnlyCounted(cause)}`;
    return { ...seen, perCall: cause.count / cause.calls, as: `${after}${each}${why}` };
  });
}
