import { getOrCreate } from '../../base/collect';
import {
  isAlias,
  isCollection,
  isPair,
  isScalar,
  visit,
  type Alias,
  type Document,
  type Node,
  type Scalar,
} from 'yaml';
import type { Problem, Severity } from '../problem';
import { outlineOf, type Outline } from './outline';

/** The rest is counted as one problem. */
const maximumProblems = 100;
/** Many aliases are an attack on memory. */
const maximumAliases = 100;

export interface Place {
  readonly offset: number;
  readonly length: number;
  /** Path of an override, which has no position in the text. */
  readonly override?: string;
}

export interface FixDraft {
  readonly title: string;
  readonly text: string;
  readonly at?: Place;
}

const writing = (text: string): FixDraft => ({ title: `Write ${text}`, text });

/** Reports nothing without a place: a key that is not written cannot be wrong. */
type Report = (
  code: string,
  at: Place | Node | undefined,
  message: string,
  fix?: FixDraft | string,
) => void;

/** One reading of a text, with its problems. */
export interface Reading {
  readonly text: string;
  readonly error: Report;
  readonly warning: Report;
  readonly info: Report;
  /** Further problems would be dropped. */
  readonly isFull: () => boolean;
  readonly placeOf: (node: Node) => Place;
  readonly outline: () => Outline;
  readonly markOverride: (nodes: readonly Node[], path: string) => void;
  /** The node, or what an alias stands for; undefined (with a problem) for an unknown anchor. */
  readonly resolve: (node: Node | null | undefined) => Node | undefined;
  readonly problems: () => Problem[];
}

export function createReading(
  text: string,
  document: Document.Parsed,
  known: readonly Problem[],
): Reading {
  const problems: Problem[] = [...known];
  const broken = known
    .filter(({ code }) => code === 'yaml')
    .map(({ offset }) => [offset, offset + text.slice(offset).search(/[\r\n]|$/)] as const);
  const overrides = new WeakMap<Node, string>();
  const { anchors, aliases } = anchorsOf(document);
  let dropped = 0;
  let outline: Outline | undefined;

  const placeOf = (node: Node): Place => {
    const override = overrides.get(node);
    if (override !== undefined) return { offset: 0, length: 0, override };
    const [start, end] = node.range ?? [0, 0];
    const offset = Math.min(start, text.length);
    // A collection is shown by its first line.
    if (isScalar(node) && node.type?.startsWith('BLOCK')) return scalarContent(text, node);
    const lineEnd = isCollection(node) ? text.slice(offset, end).search(/[\r\n]/) : -1;
    return { offset, length: lineEnd === -1 ? Math.min(end, text.length) - offset : lineEnd };
  };

  const reporting =
    (severity: Severity): Report =>
    (code, at, message, fix) => {
      if (at === undefined) return;
      if (problems.length >= maximumProblems) {
        dropped += 1;
        return;
      }
      const { offset, length, override } = 'offset' in at ? at : placeOf(at);
      if (override !== undefined) {
        const flag = flagOf(override);
        problems.push({ code, severity, message: `${flag}: ${message}`, offset, length, flag });
        return;
      }
      // Problems on the same line follow from the broken YAML.
      if (broken.some(([from, end]) => offset >= from && offset <= end)) return;
      if (severity === 'info' && broken.length > 0) return;
      const draft = typeof fix === 'string' ? writing(fix) : fix;
      problems.push({
        code,
        severity,
        message,
        offset,
        length,
        ...fixOf(draft, { offset, length }),
      });
    };
  const error = reporting('error');

  if (aliases > maximumAliases) error('too-large', document.contents!, tooAliased);
  return {
    ...{ text, placeOf, error, warning: reporting('warning'), info: reporting('info') },
    outline: () => (outline ??= outlineOf(text)),
    isFull: () => problems.length >= maximumProblems,
    markOverride(nodes, path) {
      for (const node of nodes) overrides.set(node, path);
    },
    resolve(node) {
      if (!isAlias(node)) return node ?? undefined;
      if (aliases > maximumAliases) return undefined;
      const target = anchors
        .get(node.source)
        ?.filter((anchor) => startOf(anchor) < startOf(node))
        .at(-1);
      if (target === undefined) error('yaml', node, unknownAnchor(node));
      return target;
    },
    problems: () => (dropped === 0 ? problems : [...problems, tooMany(dropped)]),
  };
}

const tooAliased = `This file has more than ${maximumAliases} aliases (*name), so none of them is followed. Write the values out.`;

const unknownAnchor = (node: Alias): string =>
  `There is no anchor &${node.source.slice(0, 40)} before this alias. A text that begins with * needs quotes.`;

const startOf = (node: Node): number => node.range?.[0] ?? 0;

function anchorsOf(document: Document.Parsed): { anchors: Map<string, Node[]>; aliases: number } {
  const anchors = new Map<string, Node[]>();
  let aliases = 0;
  visit(document, (_key, node) => {
    if (isAlias(node)) aliases += 1;
    else if (!isPair(node) && (isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
      getOrCreate(anchors, node.anchor, () => []).push(node);
    }
  });
  return { anchors, aliases };
}

function fixOf(draft: FixDraft | undefined, here: Place): Pick<Problem, 'fix'> {
  const { offset, length, override } = draft?.at ?? here;
  if (draft === undefined || override !== undefined) return {};
  return { fix: { title: draft.title, text: draft.text, offset, length } };
}

const tooMany = (dropped: number): Problem => ({
  ...{ code: 'too-many-problems', severity: 'error', offset: 0, length: 0 },
  message: `There are ${dropped} more problems. Solve those above first.`,
});

/** Without quotes and the end of the line. */
export function scalarContent(text: string, { range, type }: Scalar): Place {
  const [start, end] = range ?? [0, 0];
  if (type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE')
    return { offset: start + 1, length: Math.max(0, end - start - 2) };
  return { offset: start, length: text.slice(start, end).trimEnd().length };
}

const flagOf = (override: string): string =>
  override === 'config.target' ? '--target' : `--set ${override}`;
