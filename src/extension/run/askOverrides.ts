import * as vscode from 'vscode';
import type { SetKey } from '../../results/scenarioCopy';
import { parseScenario } from '../../scenario/parseScenario';
import { pickTarget } from '../targets/pickTarget';
import { answerProblem, runQuestions, type RunQuestion } from './runQuestions';
import type { Services } from '../services';
import { targetKeys } from '../targets/targetsModel';

/**
 * Asks what to change for one run; Enter keeps what the scenario says. Undefined when turned away.
 *
 * @param asInFile whether the target of the file is one to choose
 */
export async function askOverrides(
  text: string,
  services: Services,
  asInFile: boolean,
): Promise<SetKey[] | undefined> {
  // Where the file holds no scenario, the run says what is wrong with it.
  const { scenario } = parseScenario(text);
  const target = await pickTarget(services, {
    title: vscode.l10n.t('Run with: target'),
    asInFile,
    service: scenario?.service,
  });
  if (target === undefined) return undefined;
  const answers: SetKey[] =
    target === 'asInFile' ? [] : targetKeys(target, scenario?.service ?? 'hub');
  for (const question of scenario ? runQuestions(scenario, vscode.l10n.t) : []) {
    const answer = await ask(question, text, answers);
    if (answer === undefined) return undefined;
    if (answer !== question.value) answers.push({ path: question.path, value: answer });
  }
  return answers;
}

async function ask(
  { path, title, value, check }: RunQuestion,
  text: string,
  before: readonly SetKey[],
): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title,
    value,
    ignoreFocusOut: true,
    validateInput: (typed) => {
      const trimmed = typed.trim();
      if (trimmed === value) return undefined;
      return check(trimmed) ?? answerProblem(text, before, { path, value: trimmed }, vscode.l10n.t);
    },
  });
  return answer?.trim();
}
