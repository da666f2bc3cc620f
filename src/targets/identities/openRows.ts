/** Rows of files, and identities on request; loaded by runs that have either. */
import type { Endpoint, IdentityRow, PersonalEndpoint } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import type { Row, RowName } from '../../base/personalText';
import { formatCount } from '../../base/units';
import type { Scenario } from '../../scenario/scenario';
import { safeExcerpt } from '../../scenario/text/words';
import { signingKey } from '../../wire/connect/signingKey';
import type { TargetContext } from '../target';
import { IdentityCaller } from './callIdentities';
import { mostFileBytes, readRows } from './readRows';
import type { RowColumn } from './rowColumns';
import type { IdentityRequest, ResolvedIdentities } from './resolveIdentities';

/** @throws ExpectedError `data-file`, `identities` */
export async function openRows(
  scenario: Pick<Scenario, 'data'>,
  { file, identities: given }: ResolvedIdentities,
  needs: readonly RowColumn[],
  { readFile }: Pick<TargetContext, 'readFile'>,
): Promise<Pick<PersonalEndpoint, 'identities' | 'data'>> {
  const read = async (name: string): Promise<Row[]> =>
    readRows(name, await readFile(name, mostFileBytes));
  const identities =
    file === undefined
      ? given
      : ({ kind: 'rows', rows: (await read(file)).map((values) => ({ values })) } as const);
  const data = scenario.data && {
    rows: await read(scenario.data.file),
    shared: scenario.data.take === 'shared',
  };
  const { file: dataFile = 'data' } = scenario.data ?? {};
  if (file !== undefined && identities?.kind === 'rows') {
    const rows = identities.rows.map(({ values }) => values);
    checkColumns(file, rows, needs, 'identity');
  }
  if (data) checkColumns(dataFile, data.rows, needs, 'data');
  if (identities?.kind === 'rule') {
    checkRuleKey(identities);
    const { claims, user } = identities;
    const ofData = [...partsIn(claims), ...user].filter(isData);
    checkColumns(dataFile, data?.rows ?? [], ofData, 'data');
  }
  return { identities, data };
}

export interface RowProblem {
  readonly of: 'identities' | 'data';
  readonly file: string;
  readonly message: string;
}

export async function rowProblems(
  { identities, data }: Scenario,
  needs: readonly RowColumn[],
  isThere: (file: string) => boolean,
  { readFile }: Pick<TargetContext, 'readFile'>,
): Promise<RowProblem[]> {
  const found: RowProblem[] = [];
  const look = async (of: RowProblem['of'], file: string | undefined): Promise<void> => {
    if (file === undefined || !isThere(file)) return;
    try {
      const rows = readRows(file, await readFile(file, mostFileBytes));
      checkColumns(file, rows, needs, of === 'data' ? 'data' : 'identity');
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      found.push({ of, file, message: error.message });
    }
  };
  await look('identities', identities?.kind === 'file' ? identities.file : undefined);
  await look('data', data?.file);
  return found;
}

function checkColumns(
  file: string,
  rows: readonly Row[],
  needs: readonly RowColumn[],
  of: RowName,
): void {
  const columns = Object.keys(rows[0] ?? {});
  for (const { name, column, asNumber } of needs) {
    if (name !== of) continue;
    if (!columns.includes(column))
      throw new ExpectedError(
        'data-file',
        `${file} has no column ${safeExcerpt(column)}, which {${name}.${safeExcerpt(column)}} needs. It has ${columns.map(safeExcerpt).join(', ')}.`,
      );
    const bad = asNumber === true ? rows.findIndex((row) => !isNumber(row[column])) : -1;
    if (bad !== -1)
      throw new ExpectedError(
        'data-file',
        `${file}: ${safeExcerpt(column)} of row ${formatCount(bad + 1)} is not a number, which {${name}.${safeExcerpt(column)}:number} needs.`,
      );
  }
}

const isNumber = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)));

const isData = (part: unknown): part is RowColumn & { readonly name: 'data' } =>
  typeof part === 'object' && part !== null && (part as Partial<RowColumn>).name === 'data';

function partsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner: unknown[] = Object.values(value);
  return [...inner, ...inner.flatMap(partsIn)];
}

function checkRuleKey(rule: Parameters<typeof signingKey>[0]): void {
  const { key, head } = rule;
  const isPem = key.includes('-----BEGIN');
  const isText = head.alg.startsWith('HS');
  if (isText === isPem)
    throw new ExpectedError(
      'identities',
      isText
        ? `The key of identities is in PEM form, which ${head.alg} does not take: write algorithm: RS256, or what the key is for.`
        : `${head.alg} signs with a private key in PEM form, which the key of identities is not.`,
    );
  if (isText && key.length === 0)
    throw new ExpectedError('identities', 'The key of identities is an empty text.');
  try {
    signingKey(rule);
  } catch {
    throw new ExpectedError(
      'identities',
      'The key of identities cannot be read: it has to be a private key in PEM form without a password.',
    );
  }
}

export function identityCallerFor(
  call: IdentityRequest,
  endpoint: Endpoint,
  needs: readonly RowColumn[],
  context: TargetContext,
): IdentityCaller {
  const what =
    call.spec.kind === 'command' ? 'What the command prints' : 'What the token endpoint answers';
  const check = ({ values }: IdentityRow): void => checkColumns(what, [values], needs, 'identity');
  return new IdentityCaller(call, endpoint, context, check);
}
