/** Translates a text for people, English being the key; `{0}`, `{1}` stand for the arguments. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

/** Texts as they are written in the code, for what runs without an editor. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d)\}/g, (_all, index: string) => String(args[Number(index)] ?? ''));
