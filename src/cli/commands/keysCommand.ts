import { exitCode } from '../exitCode';
import { jsonDocument } from '../../base/visibleText';
import { keysNamed, listedKeys, type ListedKey } from './keyList';
import { paintAll, wrap, type Line } from '../views/line';
import { canColour, widthOf, type Surroundings } from '../surroundings';

/**
 * Lists the keys of scenario files on standard output: all of them, or one with all that is known of it, and
 * those below it.
 *
 * @throws ExpectedError `unknown-key`
 */
export function keysCommand(
  name: string | undefined,
  { json = false }: { readonly json?: boolean },
  surroundings: Surroundings,
): number {
  const keys = name === undefined ? listedKeys() : keysNamed(name);
  const { stdout } = surroundings;
  const width = Math.max(40, Math.min(100, widthOf(stdout)));
  stdout.write(
    json
      ? jsonDocument(keys)
      : paintAll(
          keys.flatMap((key) => linesOf(key, name !== undefined, width)),
          canColour(surroundings),
        ),
  );
  return exitCode.done;
}

const indent = '    ';

function linesOf(key: ListedKey, whole: boolean, width: number): Line[] {
  const { type, required, choices, minimum, maximum, doc, note, useCases } = key;
  const head = [
    type === 'choice' ? (choices ?? []).join(' | ') : type,
    required === true ? 'required' : key.default === undefined ? '' : `default ${key.default}`,
  ].filter((word) => word !== '');
  const more = whole
    ? [
        minimum === undefined ? '' : `At least ${minimum}.`,
        maximum === undefined ? '' : `At most ${maximum}.`,
        note ?? '',
        useCases === undefined ? '' : `Use cases: ${useCases.join(', ')}.`,
      ].filter((text) => text !== '')
    : [];
  return [
    ...wrap(`${key.name}: ${head.join(', ')}`, width, indent).map((text) => ({
      text,
      tone: 'bold' as const,
    })),
    ...[doc, ...more].flatMap((text) =>
      wrap(indent + text, width, indent).map((line) => ({ text: line })),
    ),
  ];
}
