import type { Problem } from '../problem';

/** Scenario files are a few kilobytes; what is larger is something else. */
export const maximumCharacters = 1024 * 1024;

/**
 * Of a text with more than {@link maximumCharacters}. A file of its own: who only asks for the bound does
 * not load the YAML library.
 */
export const tooLarge: Problem = {
  code: 'too-large',
  severity: 'error',
  message:
    'This file is larger than 1 MB, so it was not read. Scenario files are a few kilobytes: is it the right file?',
  offset: 0,
  length: 0,
};
