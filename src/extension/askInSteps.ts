import * as vscode from 'vscode';
import { back } from './stepsOfQuestions';

/** Where a question stands among several; the first of them has no way back. */
export interface Place {
  /** It is part of another question, to which its way back leads. */
  readonly inside?: true;
  readonly step: number;
  readonly totalSteps: number;
}

/** Settles with the answer, `back`, or undefined when the question was turned away. */
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
      // Going away, it would be turned away.
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
  /** Why the text cannot be taken; undefined when it can. */
  readonly check: (text: string) => string | undefined;
}

/** The answer without blanks around it. */
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
