import type { Identities, PersonalValue, SigningRule } from '../../base/endpoint';
import { identityPlaceholders, type PersonalPart } from '../../base/personalText';
import type { Row, RowValue } from '../../base/personalText';
import type { CalledIdentities, TokenRule } from '../../scenario/keys/identityKeys';
import type { Scenario } from '../../scenario/scenario';
import { resolvedParts, type Resolve } from './rowColumns';

/** Who is asked for identities, with references resolved. */
export interface IdentityRequest {
  readonly spec: CalledIdentities;
  readonly count: number;
  /** Of a token endpoint; placeholders of clients are replaced by 0. */
  readonly url?: string;
  readonly what: readonly (readonly PersonalPart[])[];
  readonly texts: Readonly<Record<string, readonly PersonalPart[]>>;
  readonly body?: readonly PersonalPart[];
}

/** `file` is still to be read, `call` to be made. */
export interface ResolvedIdentities {
  readonly identities?: Identities;
  readonly file?: string;
  readonly call?: IdentityRequest;
}

export function resolveIdentities(
  { identities: spec, connections, search }: Scenario,
  resolve: Resolve,
): ResolvedIdentities {
  const parts = (text: string): readonly PersonalPart[] =>
    resolvedParts(text, identityPlaceholders, resolve);
  const all = (texts: Readonly<Record<string, string>>): IdentityRequest['texts'] =>
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
      const { command, env, count = most } = spec;
      const what = command.map(parts);
      return { call: { spec, count: Math.min(count, most), texts: all(env), what } };
    }
    case 'url': {
      const { headers, body, count = most } = spec;
      const url = resolve(spec.url).replace(/\{[^{}]*\}/g, '0');
      const what = [parts(spec.url)];
      const texts = all(headers);
      const sent = body === undefined ? undefined : parts(body);
      return { call: { spec, count: Math.min(count, most), texts, url, what, body: sent } };
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
    kind: 'rule',
    count,
    key: resolve(key),
    userClaim,
    lifetimeMs,
    head: { alg: algorithm, typ: 'JWT', kid: keyId },
    user: parts(rule),
    claims: membersOf(claims),
    audience: audience === undefined ? undefined : resolve(audience),
    issuer: issuer === undefined ? undefined : resolve(issuer),
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
