/** Bytes that every message carries to be recognised by, see `wire/stamp.ts`. */
export const stampBytes = 54;

/** Largest payload of one message that a scenario may have. */
export const largestPayloadBytes = 16 * 1024 * 1024;

/** Largest number of sources (a sender's stream of messages to one audience) that it can tell apart. */
export const largestSource = 2 ** 26;
