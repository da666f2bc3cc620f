import { fill } from '../base/text';
import { latencyWords, formatCount, formatShare } from '../base/units';
import { detectStall } from '../measure/judge/stepWatches';
import type { GeneratorHealth } from '../measure/summary';
import type { PanelStrings } from '../measure/show/panelStrings';
import type { Snapshot } from '../measure/snapshot';
import { remainingRunS } from '../measure/snapshotHistory';
import { silentAgentSentences } from '../measure/show/agentTable';
import { generatorPartWords, timeLeftWords } from '../measure/show/chartWords';
import { lossesOfEndedSteps, type ShownRun, searchValueText } from './panelState';

export type Tone = 'good' | 'warn' | 'bad' | 'neutral';

interface Sentence {
  readonly tone: Tone;
  readonly sign: string;
  readonly lead: string;
  readonly rest: string;
}

const signs: Readonly<Record<Tone, string>> = { good: '✓', warn: '⚠', bad: '✗', neutral: '●' };

/** Sums up the run; complete without the rest of the panel. */
export function sentenceOf(state: ShownRun): Sentence {
  const { result, interrupted, snapshots, strings } = state;
  if (result) return result.sentences;
  if (interrupted) return make('warn', strings.interrupted, strings.interruptedWhy);
  const latest = snapshots.at(-1);
  return latest ? liveSentence(latest, state) : make('neutral', strings.waiting, '');
}

function liveSentence(latest: Snapshot, state: ShownRun): Sentence {
  const { run, agents, snapshots, strings } = state;
  const { phase, step, stepCount, connections, search } = latest;
  const [requested, connected] = [connections.requested, connections.connected].map((count) =>
    formatCount(count),
  ) as [string, string];
  if (phase === 'connecting')
    return make('neutral', fill(strings.opening, connected, requested), '');
  if (phase === 'preparing') return make('neutral', fill(strings.preparing, connected), '');
  if (phase === 'closing') return make('neutral', strings.closing, '');
  if (phase === 'done' || !step) return make('neutral', strings.summing, '');
  const lead = search
    ? fill(
        strings.searchStep,
        formatCount(step.index),
        searchValueText(search.of, search.value, strings),
      )
    : fill(strings.stepOf, formatCount(step.index), formatCount(stepCount));
  if (phase === 'warmup') return make('neutral', lead, strings.warmingUp);
  const whole = remainingRunS(latest, run.scenario);
  const left =
    step.index < stepCount && whole !== undefined
      ? fill(
          strings.timeLeftOfAll,
          timeLeftWords(step.totalS - step.elapsedS),
          timeLeftWords(whole),
        )
      : fill(strings.timeLeft, timeLeftWords(step.totalS - step.elapsedS));
  const when = phase === 'draining' ? strings.draining : left;
  if (!step.generator.valid) {
    const [why, facts] = bottleneckWords(step.generator, strings);
    return make('warn', why, `${facts} ${lead}, ${when}`);
  }
  const { isFinal, message } = step.missed ?? {};
  const missedTone = isFinal ? 'bad' : 'warn';
  const missed = message && fill(isFinal ? strings.missedForGood : strings.missedByNow, message);
  if (step.senders === 0) {
    const dropped = formatCount(connections.dropped);
    const open = formatCount(connections.takingPart ?? connections.connected);
    const holding = fill(strings.holding, open, dropped);
    const tone = missed ? missedTone : connections.dropped === 0 ? 'good' : 'warn';
    return make(tone, `${lead},`, [left, ...(missed ? [missed] : []), holding].join(' '));
  }
  const lost = lossesOfEndedSteps(snapshots);
  const nothingYet = step.latencyUs.count === 0;
  const stall = detectStall(step);
  // "Nothing lost" would mislead while nothing arrives.
  const noneLost = nothingYet || stall ? [] : [strings.nothingLost];
  const stallText = stall?.kind === 'silent' ? strings.stalled : strings.fallsBehind;
  const within = stall ? strings.withinOfCame : strings.within;
  const ours = generatorPartWords(step, strings['lateness.part']);
  const p99 = [latencyWords(step.latencyUs.p99), ...(ours === undefined ? [] : [ours])].join(', ');
  const latency = fill(within, '99', p99);
  const silent = silentAgentSentences(agents, strings);
  const parts = [
    when,
    ...(missed ? [missed] : []),
    ...silent,
    ...(stall ? [fill(stallText, stall.seconds, formatCount(stall.count))] : []),
    ...(nothingYet ? (stall ? [] : [strings.nothingYet]) : [latency]),
    ...(lost === 0 ? noneLost : [fill(strings.someLost, formatCount(lost))]),
    ours === undefined ? strings.keepsSchedule : strings.isLate,
  ];
  const tone = missed
    ? missedTone
    : lost > 0 || stall || silent.length > 0
      ? 'warn'
      : nothingYet
        ? 'neutral'
        : 'good';
  return make(tone, `${lead},`, parts.join(' '));
}

function bottleneckWords(
  { cause, cpuShare, slipP99Us, suspendedUs = 0 }: GeneratorHealth,
  strings: PanelStrings,
): [lead: string, facts: string] {
  const why = strings.bottleneckWhy;
  const slip = latencyWords(slipP99Us);
  if (cause === 'suspended')
    return [fill(strings.suspended, latencyWords(suspendedUs)), `${strings.suspendedWhy} ${why}`];
  if (cause !== 'starved') return [strings.bottleneck, why];
  return [strings.starved, `${fill(strings.starvedFacts, formatShare(cpuShare), slip)} ${why}`];
}

function make(tone: Tone, lead: string, rest: string): Sentence {
  return { tone, sign: signs[tone], lead, rest };
}
