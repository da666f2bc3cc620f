import * as vscode from 'vscode';

/** Position of a question among several; all but the first have a way back. */
export interface Place {
  readonly inside?: true;
  readonly step: number;
  readonly totalSteps: number;
}

/** Settles with the answer, `back`, or undefined when the person cancels. */
function asked<Answer>(
  input: vscode.QuickInput & {
    buttons: readonly vscode.QuickInputButton[];
    onDidTriggerButton: vscode.Event<vscode.QuickInputButton>;
  },
  place: Place | undefined,
  onAccept: (settle: (answer: Answer) => void) => vscode.Disposable,
): Promise<Answer | typeof back | undefined> {
  input.step = place?.step;
  input.totalSteps = place?.totalSteps;
  input.buttons =
    place !== undefined && (place.step > 1 || place.inside === true)
      ? [vscode.QuickInputButtons.Back]
      : [];
  return new Promise((resolve) => {
    const settle = (answer: Answer | typeof back | undefined): void => {
      resolve(answer);
      all.dispose();
      input.dispose();
    };
    const all = vscode.Disposable.from(
      onAccept(settle),
      input.onDidTriggerButton(() => settle(back)),
      input.onDidHide(() => settle(undefined)),
    );
    input.show();
  });
}

export function askPick<Item extends vscode.QuickPickItem>(
  title: string,
  items: readonly Item[],
  place?: Place,
): Promise<Item | typeof back | undefined> {
  const pick = vscode.window.createQuickPick<Item>();
  pick.title = title;
  pick.items = items;
  return asked<Item>(pick, place, (settle) =>
    pick.onDidAccept(() => {
      const [item] = pick.selectedItems;
      if (item) settle(item);
    }),
  );
}

interface TextQuestion {
  readonly title: string;
  readonly value?: string;
  readonly prompt?: string;
  readonly placeholder?: string;
  /** Why the text is refused; undefined when it is accepted. */
  readonly check: (text: string) => string | undefined;
}

export function askText(
  { title, value = '', prompt, placeholder, check }: TextQuestion,
  place?: Place,
): Promise<string | typeof back | undefined> {
  const box = vscode.window.createInputBox();
  Object.assign(box, { title, value, prompt, placeholder, ignoreFocusOut: true });
  const validate = (): string | undefined => {
    const problem = check(box.value.trim());
    box.validationMessage = problem;
    return problem;
  };
  const typing = box.onDidChangeValue(validate);
  return asked<string>(box, place, (settle) =>
    vscode.Disposable.from(
      typing,
      box.onDidAccept(() => {
        if (validate() === undefined) settle(box.value.trim());
      }),
    ),
  );
}

/** Answer of a user who goes back to the question before. */
export const back = Symbol('back');

/**
 * Asks one question after the other. `ask` gets the answers before it, and its own earlier answer after going
 * back. Undefined when cancelled.
 */
export async function askInOrder<Answer>(
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
