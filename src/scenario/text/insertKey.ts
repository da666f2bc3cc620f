import type { Node, YAMLMap } from 'yaml';
import type { FixDraft, Reading } from './reading';

/**
 * A fix that writes `line` (`groupCount: 100`) as the first key of a map. Undefined when the map has no
 * place in the text.
 */
export function insertIntoMap(reading: Reading, map: YAMLMap, line: string): FixDraft | undefined {
  const place = reading.placeOf(map);
  const first = map.items[0]?.key as Node | undefined;
  if (place.override !== undefined || map.range == null) return undefined;
  const title = `Write ${line}`;
  if (map.flow === true) {
    const at = { offset: place.offset + 1, length: 0 };
    return { title, text: first === undefined ? ` ${line} ` : ` ${line},`, at };
  }
  if (first === undefined || reading.placeOf(first).override !== undefined) return undefined;
  const { offset } = reading.placeOf(first);
  const indent = indentAt(reading.text, offset);
  return { title, text: `${line}\n${indent}`, at: { offset, length: 0 } };
}

/** A fix that writes lines below the line of `key`, indented by two spaces more than it for each level. */
export function insertBelow(
  reading: Reading,
  key: Node,
  value: Node | null,
  lines: readonly string[],
): FixDraft | undefined {
  const at = reading.placeOf(key);
  if (at.override !== undefined) return undefined;
  const after = value === null ? at : reading.placeOf(value);
  const end = Math.max(at.offset + at.length, after.offset + after.length);
  const lineEnd = reading.text.slice(end).search(/\r?\n|$/);
  const rest = reading.text.slice(end, end + lineEnd);
  // Inside a flow map or after an unfinished line there is no line to write below.
  if (!/^\s*(?::\s*)?(?:#.*)?$/.test(rest)) return undefined;
  const indent = indentAt(reading.text, at.offset);
  const text = lines.map((line) => `\n${indent}${line}`).join('');
  return { title: `Write ${lines.at(-1)!.trim()}`, text, at: { offset: end + lineEnd, length: 0 } };
}

/** White space as wide as what stands before `offset` on its line. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return text
    .slice(lineStart, offset)
    .replace(/^\uFEFF/, '')
    .replace(/[^\t]/g, ' ');
}
