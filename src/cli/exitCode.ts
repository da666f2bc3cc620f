import { ExpectedError } from '../base/expectedError';
import type { ComparisonVerdict } from '../measure/compare/comparison';
import type { Result } from '../results/result';

export const exitCode = {
  done: 0,
  sloMissed: 1,
  badInput: 2,
  noTarget: 3,
  generatorBound: 4,
  defect: 5,
  agentLost: 6,
  sigint: 130,
  sigterm: 143,
} as const;

export const exitCodeText = `
Exit codes:
  0    done, every objective met
  1    done or ended early, an objective missed; worse than the baseline
  2    bad arguments or scenario, or this machine lacks something; not started;
       results that cannot be compared
  3    the target cannot be reached or was lost
  4    the run is invalid: its load was not sent, or this machine was so late
       that nobody can say whether an objective was met
  5    a worker was lost, or a defect of ours
  6    incomplete: an agent was lost or did not come, or the clocks of agents
       leave open whether an objective was met
  130  interrupted by Ctrl+C; 143 by SIGTERM; the partial result is written`;

export type EndingSignal = 'SIGINT' | 'SIGTERM';

/** A signal came before there was a result. */
export class SignalError extends Error {
  constructor(readonly signal: EndingSignal) {
    super(`ended by ${signal}`);
    this.name = 'SignalError';
  }
}

function exitCodeOfSignal(signal: EndingSignal): number {
  return signal === 'SIGTERM' ? exitCode.sigterm : exitCode.sigint;
}

export function exitCodeForResult(
  result: Pick<Result, 'ending' | 'verdict' | 'connections' | 'baseline' | 'agents'>,
  signal: EndingSignal = 'SIGINT',
): number {
  const { ending, verdict, connections, baseline, agents } = result;
  if (ending === 'interrupted' || ending === 'stopped') return exitCodeOfSignal(signal);
  if (ending === 'targetLost') return exitCode.noTarget;
  if (ending === 'workerLost') {
    if (agents === undefined) return exitCode.defect;
    return verdict.status === 'fail' ? exitCode.sloMissed : exitCode.agentLost;
  }
  const { done, generatorBound, noTarget, sloMissed } = exitCode;
  const open = agents === undefined ? sloMissed : exitCode.agentLost;
  const incomplete = connections.connected === 0 ? noTarget : open;
  if (verdict.status === 'pass' && baseline) return exitCodeForComparison(baseline.verdict);
  return { pass: done, fail: sloMissed, invalid: generatorBound, incomplete }[verdict.status];
}

export const exitCodeForComparison = (verdict: ComparisonVerdict): number =>
  ({
    ...{ same: exitCode.done, better: exitCode.done },
    ...{ worse: exitCode.sloMissed, unlike: exitCode.badInput },
  })[verdict];

const codesOfErrors: Readonly<Record<string, number>> = {
  'target-unreachable': exitCode.noTarget,
  'identities-unreachable': exitCode.noTarget,
  'target-certificate': exitCode.noTarget,
  'local-hub': exitCode.noTarget,
  'sign-in': exitCode.noTarget,
  'bus-failed': exitCode.noTarget,
  'agents-missing': exitCode.agentLost,
  'run-lost': exitCode.agentLost,
};

export function exitCodeForError(error: unknown): number {
  if (error instanceof SignalError) return exitCodeOfSignal(error.signal);
  if (error instanceof ExpectedError) return codesOfErrors[error.code] ?? exitCode.badInput;
  return exitCode.defect;
}
