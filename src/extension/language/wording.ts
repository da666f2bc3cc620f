/**
 * Texts for people: the English text with `{0}` … replaced by what follows, in the language of the window.
 * `vscode.l10n` is one.
 */
export interface Wording {
  t(message: string, ...args: (string | number)[]): string;
}

/** English, for what runs without an editor. */
export const english: Wording = {
  t: (message, ...args) =>
    message.replace(/\{(\d)\}/g, (_all, index: string) => String(args[Number(index)] ?? '')),
};
