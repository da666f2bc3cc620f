import type { PersonalEndpoint } from '../../base/endpoint';
import {
  connectionPlaceholders,
  parsePersonalText,
  type PersonalName,
  type PersonalPart,
  type RowName,
} from '../../base/personalText';
import { findUseCase } from '../../usecases/registry';
import { rowsUsed, hubRunOf } from '../../usecases/useCase';
import type { Scenario } from '../../scenario/scenario';

export type Resolve = (text: string) => string;

/** Placeholders count only in what is written, not in values of references. */
export const resolvedParts = (
  text: string,
  known: readonly PersonalName[],
  resolve: Resolve,
): readonly PersonalPart[] =>
  parsePersonalText(text, known).parts.map((part) =>
    typeof part === 'string' ? resolve(part) : part,
  );

export interface RowColumn {
  readonly name: RowName;
  readonly column: string;
  readonly asNumber?: true;
}

export function requiredColumns(
  { entries }: Pick<Scenario, 'entries'>,
  { headers, query, accessToken = [] }: Omit<PersonalEndpoint, 'identities' | 'data'>,
): RowColumn[] {
  const inTexts = [...Object.values(headers), ...Object.values(query), accessToken].flat();
  return [
    ...inTexts.filter(
      (part): part is Exclude<PersonalPart, string> & RowColumn =>
        typeof part === 'object' && 'column' in part,
    ),
    ...entries.flatMap(({ name, parameters }) =>
      rowsUsed(hubRunOf(findUseCase(name)!, parameters)).map(({ placeholder }) => placeholder),
    ),
  ];
}

/** Without resolving references. */
export function requiredColumnsOfText(scenario: Scenario): RowColumn[] {
  const { headers, query, accessToken } = scenario;
  const partsOf = (text: string): readonly PersonalPart[] =>
    resolvedParts(text, connectionPlaceholders, (same) => same);
  const ofEach = (texts: Readonly<Record<string, string>>): PersonalEndpoint['headers'] =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, partsOf(text)]));
  return requiredColumns(scenario, {
    headers: ofEach(headers),
    query: ofEach(query),
    accessToken: accessToken === undefined ? undefined : partsOf(accessToken),
  });
}
