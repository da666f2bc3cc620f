import type { Verdict } from '../../measure/show/summary';
import type { PanelResult } from '../../protocol/panel';

/** A result with its sentences as `say` has them; numbers and what servers said stay. */
export function saidResult(result: PanelResult, say: (text: string) => string): PanelResult {
  const saidVerdict = (verdict: Verdict): Verdict => ({
    ...verdict,
    reasons: verdict.reasons.map(({ code, message }) => ({ code, message: say(message) })),
  });
  const { recommendation } = result;
  return {
    ...result,
    sentence: say(result.sentence),
    verdict: saidVerdict(result.verdict),
    steps: result.steps.map((step) => ({ ...step, verdict: saidVerdict(step.verdict) })),
    recommendation: recommendation && {
      ...recommendation,
      reasons: recommendation.reasons.map(say),
    },
  };
}
