import { mostSlipShare } from '../../base/judging';
import type { Slo } from '../../base/slo';
import { formatCount } from '../../base/units';
import { latencyWords, shareWords } from '../../base/objectives/words';
import type { GeneratorHealth, VerdictReason } from '../show/summary';

/** What a step sent, and what that took. */
export interface SentMeasures {
  /** Messages. */
  readonly offered: number;
  readonly sent: number;
  readonly generator: Omit<GeneratorHealth, 'valid' | 'cause' | 'gcShare'>;
  /** Messages leave as calls to a service, each over a socket of its own until it is answered. */
  readonly byCalls?: boolean;
}

/** A step that sent less than this share of what was due measured the generator. */
const leastSentShare = 0.99;
/** A worker above this share of a core has no room left to be on time. */
const mostCpuShare = 0.95;

/** A worker below this share of a core had time enough: what made it late lies outside of it. */
const idleCpuShare = 0.5;
/** A worker with nothing in its way may be as late as that: timers and naps, docs/measuring.md. */
const usualSlipUs = 10_000;

/**
 * Why the load generator itself was the bottleneck of a step, the cause with what helps against it first;
 * empty when it was not. Codes: `cpu`, `calls`, `starved`, `send-rate`, `slip`.
 */
export function generatorProblems(step: SentMeasures, slo: Slo): VerdictReason[] {
  const { offered, sent, generator } = step;
  const problems: VerdictReason[] = [];
  if (sent < leastSentShare * offered) {
    problems.push({
      code: 'send-rate',
      message: `the generator sent only ${formatCount(sent)} of ${formatCount(offered)} messages that were due (${shareWords(sent / offered, leastSentShare)})`,
    });
  }
  const limits = Object.values(slo.latencyUs);
  const strictest = Math.min(...limits);
  if (limits.length > 0 && generator.slipP99Us > mostSlipShare * strictest) {
    problems.push({
      code: 'slip',
      message: `1 % of the messages left ${latencyWords(generator.slipP99Us)} or more behind schedule, which is above 10 % of the limit of ${latencyWords(strictest)}`,
    });
  }
  return [...causeOf(step, problems), ...problems];
}

/** What kept the generator from sending in time; empty where that is not known. */
function causeOf(
  { generator, byCalls }: SentMeasures,
  problems: readonly VerdictReason[],
): VerdictReason[] {
  const share = shareWords(generator.cpuShare, mostCpuShare);
  if (generator.cpuShare > mostCpuShare) {
    const message = `a worker of the generator used ${share} of a core; take more workers or another machine, or send less`;
    return [{ code: 'cpu', message }];
  }
  if (problems.length === 0) return [];
  if (byCalls === true) {
    const message = `calls waited for a free socket of their worker, which used ${share} of a core; take more workers, or a machine nearer to the service`;
    return [{ code: 'calls', message }];
  }
  if (generator.cpuShare >= idleCpuShare || generator.slipP99Us < usualSlipUs) return [];
  const message = `something else took the processor, or the machine slept: the busiest worker used only ${share} of a core, and its messages left late; close what else runs on this machine, or run the load from another one`;
  return [{ code: 'starved', message }];
}
