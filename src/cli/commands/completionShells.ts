/** Shells that have a script. */
export const shells = ['bash', 'zsh', 'fish', 'pwsh'] as const;
export type Shell = (typeof shells)[number];

/** The hidden command that the scripts ask: one line for each candidate, with a tab before its text. */
export const askingCommand = '__complete';
