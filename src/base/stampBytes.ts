/** Bytes that every message carries to be recognised by, see `wire/stamp.ts`. */
export const stampBytes = 54;
