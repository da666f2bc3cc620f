/** Translates a text for people, English being the key; `{0}`, `{1}` stand for the arguments. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;
