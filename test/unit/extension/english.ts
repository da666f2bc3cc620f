import type { Translate } from '../../../src/extension/translate';

/** The texts as they are in the code, with their arguments put in. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d)\}/g, (_all, position: string) => String(args[Number(position)]));
