import { decodeHistogram, LatencyHistogram } from '../../measure/histogram';
import { judgedLatency } from '../../measure/latencySummary';
import type { StoredBlocks } from '../../measure/latencyBlocks';
import type { StepSummary } from '../../measure/summary';
import type { Result } from '../result';

/** The steps of a result, the repeats of each put together. @throws ExpectedError `histogram-damaged` */
export function pooledSteps({ repeats, steps }: Pick<Result, 'repeats' | 'steps'>): StepSummary[] {
  if (repeats === undefined) return [...steps];
  return repeats.flatMap(({ step, of }) => {
    const own = steps.filter(({ index }) => of.includes(index));
    return own.length === 0 ? [] : [pooled(step, own as [StepSummary, ...StepSummary[]])];
  });
}

function pooled(index: number, own: readonly [StepSummary, ...StepSummary[]]): StepSummary {
  const sum = (value: (step: StepSummary) => number): number =>
    own.reduce((total, step) => total + value(step), 0);
  const all = new LatencyHistogram();
  for (const { histogram } of own) all.add(decodeHistogram(histogram).counts());
  const [expected, received] = [sum((step) => step.expected), sum((step) => step.received)];
  const seconds = sum((step) => step.seconds);
  const perSecond = (value: (step: StepSummary) => number): number =>
    seconds > 0 ? sum((step) => value(step) * step.seconds) / seconds : 0;
  const [first] = own;
  const latencyBlocks = blocksOf(own);
  return {
    ...{ ...ofAll(first), index, seconds, expected, received, lost: sum((step) => step.lost) },
    ...{ sent: sum((step) => step.sent), offered: sum((step) => step.offered) },
    sentPerSecond: perSecond((step) => step.sentPerSecond),
    receivedPerSecond: perSecond((step) => step.receivedPerSecond),
    ...{ latencyUs: all.summary(), histogram: all.encode() },
    ...(own.some(({ judgedUs }) => judgedUs !== undefined) && {
      judgedUs: judgedLatency({
        ...{ expected, received },
        latencyAtShareUs: (share) => all.valueAtShare(share),
      }),
    }),
    ...(latencyBlocks && { latencyBlocks }),
    generator: {
      ...first.generator,
      cpuShare: Math.max(...own.map(({ generator }) => generator.cpuShare)),
    },
  };
}

const ofAll = ({ judgedUs: _ofOne, latencyBlocks: _too, ...rest }: StepSummary) => rest;

/** One repeat after the other; undefined where they are not cut alike. */
function blocksOf(own: readonly StepSummary[]): StoredBlocks | undefined {
  const all = own.flatMap(({ latencyBlocks }) => latencyBlocks ?? []);
  const [first] = all;
  const isAlike =
    all.length === own.length && all.every(({ seconds }) => seconds === first?.seconds);
  if (first === undefined || !isAlike) return undefined;
  return { seconds: first.seconds, counts: all.flatMap(({ counts }) => counts) };
}
