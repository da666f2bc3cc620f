/** Identities as they are written, with the values of their references, and what must not be shown of rows. */
import type { Identities, PersonalEndpoint, PersonalValue, SigningRule } from '../../base/endpoint';
import {
  connectionNames,
  identityNames,
  personalText,
  type PersonalName,
  type PersonalPart,
  type RowName,
} from '../../base/personalText';
import type { Row, RowValue } from '../../base/rows';
import { findUseCase } from '../../usecases/registry';
import { rowsUsed, hubRunOf } from '../../usecases/useCase';
import type { CalledIdentities, Scenario, TokenRule } from '../../scenario/scenario';

export type Resolve = (text: string) => string;

/** Placeholders are looked for in what is written, not in values that are put in. */
export const resolvedParts = (
  text: string,
  known: readonly PersonalName[],
  resolve: Resolve,
): readonly PersonalPart[] =>
  personalText(text, known).parts.map((part) => (typeof part === 'string' ? resolve(part) : part));

/** Somebody who is to be asked for identities. */
export interface ResolvedCall {
  readonly spec: CalledIdentities;
  readonly count: number;
  /** Command and its arguments, or the URL. */
  readonly what: readonly (readonly PersonalPart[])[];
  /** Environment variables, or headers. */
  readonly texts: Readonly<Record<string, readonly PersonalPart[]>>;
  readonly body?: readonly PersonalPart[];
}

/** What is known before files are read; `file` and `call` are what is still to be done. */
export interface ResolvedIdentities {
  readonly identities?: Identities;
  readonly file?: string;
  readonly call?: ResolvedCall;
}

export function resolveIdentities(
  { identities: spec, connections, search }: Scenario,
  resolve: Resolve,
): ResolvedIdentities {
  const parts = (text: string): readonly PersonalPart[] =>
    resolvedParts(text, identityNames, resolve);
  const all = (texts: Readonly<Record<string, string>>): ResolvedCall['texts'] =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, parts(text)]));
  const most = search?.of === 'connections' ? Math.max(connections, search.to) : connections;
  switch (spec?.kind) {
    case undefined:
      return {};
    case 'list': {
      const rows = spec.rows.map((row) => ({ values: resolvedValue(row, resolve) as Row }));
      return { identities: { kind: 'rows', rows } };
    }
    case 'file':
      return { file: spec.file };
    case 'rule':
      return { identities: ruleOf(spec, Math.min(spec.count ?? most, most), resolve, parts) };
    case 'command': {
      const { command, env, count } = spec;
      const call = { spec, count: Math.min(count ?? most, most), texts: all(env) };
      return { call: { ...call, what: command.map(parts) } };
    }
    case 'url': {
      const { url, headers, body, count } = spec;
      const call = { spec, count: Math.min(count ?? most, most), texts: all(headers) };
      return { call: { ...call, what: [parts(url)], ...(body && { body: parts(body) }) } };
    }
  }
}

function ruleOf(
  spec: TokenRule,
  count: number,
  resolve: Resolve,
  parts: (text: string) => readonly PersonalPart[],
): SigningRule {
  const { rule, key, keyId, algorithm, audience, issuer, userClaim, claims, lifetimeMs } = spec;
  const valueOf = (value: RowValue): PersonalValue => {
    if (typeof value === 'string') return { parts: parts(value) };
    if (Array.isArray(value)) return { items: (value as readonly RowValue[]).map(valueOf) };
    return typeof value === 'object' && value !== null
      ? { members: membersOf(value as Row) }
      : { value };
  };
  const membersOf = (row: Row): Record<string, PersonalValue> =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, valueOf(value)]));
  return {
    ...{ kind: 'rule', count, key: resolve(key), userClaim, lifetimeMs },
    head: { alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) },
    user: parts(rule),
    claims: membersOf(claims),
    ...(audience !== undefined && { audience: resolve(audience) }),
    ...(issuer !== undefined && { issuer: resolve(issuer) }),
  };
}

function resolvedValue(value: RowValue, resolve: Resolve): RowValue {
  if (typeof value === 'string') return resolve(value);
  if (Array.isArray(value))
    return (value as readonly RowValue[]).map((item) => resolvedValue(item, resolve));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, resolvedValue(member, resolve)]),
  );
}

/** A value of a row that a connection or a message holds. */
export interface Need {
  readonly name: RowName;
  readonly column: string;
  readonly asNumber?: true;
}

export function needsOf(
  { entries }: Pick<Scenario, 'entries'>,
  { headers, query, accessToken = [] }: Omit<PersonalEndpoint, 'identities' | 'data'>,
): Need[] {
  const inTexts = [...Object.values(headers), ...Object.values(query), accessToken].flat();
  return [
    ...inTexts.filter(
      (part): part is Exclude<PersonalPart, string> & Need =>
        typeof part === 'object' && 'column' in part,
    ),
    ...entries.flatMap(({ name, parameters }) =>
      rowsUsed(hubRunOf(findUseCase(name)!, parameters)).map(({ placeholder }) => placeholder),
    ),
  ];
}

/** The same of a scenario whose references nobody has resolved. */
export function needsOfTexts(scenario: Scenario): Need[] {
  const { headers, query, accessToken } = scenario;
  const partsOf = (text: string): readonly PersonalPart[] =>
    resolvedParts(text, connectionNames, (same) => same);
  const ofEach = (texts: Readonly<Record<string, string>>): PersonalEndpoint['headers'] =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, partsOf(text)]));
  return needsOf(scenario, {
    ...{ headers: ofEach(headers), query: ofEach(query) },
    ...(accessToken !== undefined && { accessToken: partsOf(accessToken) }),
  });
}
