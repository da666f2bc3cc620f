import { visibleJson } from '../../base/visibleText';

/** A value as the one JSON document on standard output, safe to be shown by a terminal. */
export function jsonDocument(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}
