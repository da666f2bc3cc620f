import type { Translate } from '../translate';

/** Texts as they are written here, for what runs without an editor. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d)\}/g, (_all, index: string) => String(args[Number(index)] ?? ''));
