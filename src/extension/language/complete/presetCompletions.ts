import { presetOf } from '../../../capacity/start/preset';
import { useCases } from '../../../usecases/registry';
import type { Translate } from '../../translate';
import type { Completion } from './completionsAt';

/** Sizes offered; `signalr-bench init` knows all of them. */
const units = [1, 10, 100];
/** Use cases the performance guides have tables of their own for. */
const names = /^(echo|broadcast|sendToClient|sendToGroup|restBroadcast|restSendTo(User|Group))$/;

interface PresetSnippet {
  readonly label: string;
  readonly text: string;
  readonly summary: string;
}

/** Made once: finding the senders of a size takes some estimates. */
let snippets: readonly PresetSnippet[] | undefined;

/** The set-ups of the performance guides as whole scenarios: `echo, Unit 10`. */
export function presetCompletions(
  range: Pick<Completion, 'offset' | 'length'>,
  t: Translate,
): Completion[] {
  snippets ??= useCases
    .filter(({ name }) => names.test(name))
    .flatMap((useCase) =>
      units.map((unit) => ({
        label: `${useCase.name}, Unit ${unit}`,
        text: presetOf(useCase, { service: 'signalr', unit }).text,
        summary: useCase.summary,
      })),
    );
  return snippets.map(({ label, text, summary }) => ({
    ...range,
    kind: 'scenario',
    label,
    insert: text,
    snippet: false,
    detail: t('Set-up of the performance guides'),
    documentation: summary,
  }));
}
