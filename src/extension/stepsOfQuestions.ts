/** The answer of somebody who wants the question before once more. */
export const back = Symbol('back');

/**
 * Asks one question after the other; `ask` gets the answers before it, and the one that was given to it earlier, when
 * somebody comes to it again. Undefined when one was turned away.
 */
export async function inSteps<Answer>(
  count: number,
  ask: (
    at: number,
    before: readonly Answer[],
    earlier: Answer | undefined,
  ) => Promise<Answer | typeof back | undefined>,
): Promise<Answer[] | undefined> {
  const answers: Answer[] = [];
  for (let at = 0; at < count;) {
    const answer = await ask(at, answers.slice(0, at), answers[at]);
    if (answer === undefined) return undefined;
    if (answer === back) at = Math.max(0, at - 1);
    else answers[at++] = answer;
  }
  return answers;
}
