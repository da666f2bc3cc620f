import type { KeyObject } from 'node:crypto';
import { SignJWT, type JWTPayload } from 'jose';
import type {
  Endpoint,
  IdentityRow,
  PersonalEndpoint,
  PersonalValue,
  SigningRule,
} from '../../base/endpoint';
import {
  type Row,
  type RowValue,
  fillPersonalText,
  type PlaceholderValues,
} from '../../base/personalText';
import { renewalLeadMs, signingKey } from './signingKey';
import { MissingIdentity } from '../connectFailure';

export interface ConnectionEndpoint {
  readonly endpoint: Endpoint;
  readonly renewAtMs?: number;
}

/** Between two looks for a token that somebody else renews. */
const shortestWaitMs = 1000;

/** Headers, query and access token of each connection with its own values. */
export class PersonalEndpoints {
  private readonly personal: PersonalEndpoint | undefined;
  private readonly common: Endpoint;
  private readonly signer: RuleSigner | undefined;
  private rows: IdentityRow[] | undefined;
  /** How often rows have been renewed, so that texts made from older values can be replaced. */
  renewals = 0;

  constructor(
    endpoint: Endpoint,
    private readonly groupOf: (index: number) => string | undefined = () => undefined,
    private readonly nowMs: () => number = Date.now,
  ) {
    const { personal, ...common } = endpoint;
    this.personal = personal;
    this.common = common;
    const identities = personal?.identities;
    if (identities?.kind === 'rule') this.signer = new RuleSigner(identities);
    else this.rows = identities && [...identities.rows];
  }

  /** @throws NoIdentity where the identity has no values */
  async of(index: number): Promise<ConnectionEndpoint> {
    const { personal, common } = this;
    if (personal === undefined) return { endpoint: common };
    const nowMs = this.nowMs();
    const { identity, expiresMs } = await this.identity(index, nowMs);
    const data = this.dataOf(index);
    const facts: PlaceholderValues = { index, group: this.groupOf(index), identity, data, nowMs };
    const filled = (texts: PersonalEndpoint['headers']): Record<string, string> =>
      Object.fromEntries(
        Object.entries(texts).map(([name, parts]) => [name, fillPersonalText(parts, facts)]),
      );
    const accessToken =
      personal.accessToken === undefined
        ? tokenIn(identity)
        : fillPersonalText(personal.accessToken, facts);
    const endpoint = {
      ...common,
      headers: { ...common.headers, ...filled(personal.headers) },
      query: { ...common.query, ...filled(personal.query) },
      ...(common.accessToken === undefined && accessToken && { accessToken }),
    };
    if (expiresMs === undefined) return { endpoint };
    const leadMs = this.signer?.leadMs ?? renewalLeadMs(expiresMs - nowMs);
    return { endpoint, renewAtMs: Math.max(nowMs + shortestWaitMs, expiresMs - leadMs) };
  }

  /** Without the token of a signing rule, which is made when the connection opens. */
  valuesOf(index: number): Row | undefined {
    const { rows, signer } = this;
    if (signer !== undefined) return signer.values(...this.numbered(index, signer));
    return rows === undefined ? undefined : rows[index % rows.length]!.values;
  }

  dataOf(index: number): Row | undefined {
    const { data } = this.personal ?? {};
    return data === undefined || data.shared ? undefined : data.rows[index % data.rows.length];
  }

  renewed(rows: readonly (readonly [position: number, row: IdentityRow])[]): void {
    this.renewals += 1;
    for (const [position, row] of rows) if (this.rows !== undefined) this.rows[position] = row;
  }

  private numbered(index: number, { count }: RuleSigner): [number, Row | undefined] {
    return [index % count, this.dataOf(index % count)];
  }

  private async identity(index: number, nowMs: number) {
    const { rows, signer } = this;
    if (signer !== undefined) return signer.sign(...this.numbered(index, signer), nowMs);
    if (rows === undefined) return {};
    const { values, expiresMs, failed } = rows[index % rows.length]!;
    if (failed !== undefined) throw new MissingIdentity(failed.errorClass, failed.message);
    return { identity: values, expiresMs };
  }
}

const tokenIn = (row: Row | undefined): string | undefined => {
  const token = row !== undefined && Object.hasOwn(row, 'token') ? row['token'] : undefined;
  return typeof token === 'string' ? token : undefined;
};

class RuleSigner {
  readonly leadMs: number;
  readonly count: number;
  private readonly key: KeyObject | Uint8Array;

  constructor(private readonly rule: SigningRule) {
    this.key = signingKey(rule);
    this.count = rule.count;
    this.leadMs = renewalLeadMs(rule.lifetimeMs);
  }

  values(index: number, data: Row | undefined): Row {
    const { rule } = this;
    const facts = { index, data, nowMs: 0 };
    return {
      ...(membersOf(rule.claims, facts) as Record<string, RowValue>),
      user: fillPersonalText(rule.user, facts),
    };
  }

  async sign(
    index: number,
    data: Row | undefined,
    nowMs: number,
  ): Promise<{ readonly identity: Row; readonly expiresMs: number }> {
    const { rule, key } = this;
    const { audience, issuer, userClaim, lifetimeMs } = rule;
    const values = this.values(index, data);
    const facts = { index, data, nowMs };
    const issuedS = Math.floor(nowMs / 1000);
    const expiresS = issuedS + Math.ceil(lifetimeMs / 1000);
    const payload = { ...membersOf(rule.claims, facts), [userClaim]: values['user'] } as JWTPayload;
    const token = new SignJWT(payload)
      .setProtectedHeader({ ...rule.head })
      .setIssuedAt(issuedS)
      .setExpirationTime(expiresS);
    if (audience !== undefined) token.setAudience(audience);
    if (issuer !== undefined) token.setIssuer(issuer);
    return {
      identity: { ...values, token: await token.sign(key) },
      expiresMs: expiresS * 1000,
    };
  }
}

function membersOf(
  members: Readonly<Record<string, PersonalValue>>,
  facts: PlaceholderValues,
): Readonly<Record<string, RowValue>> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, filledValue(value, facts)]),
  );
}

function filledValue(value: PersonalValue, facts: PlaceholderValues): RowValue {
  if ('parts' in value) return fillPersonalText(value.parts, facts);
  if ('items' in value) return value.items.map((item) => filledValue(item, facts));
  return 'members' in value ? membersOf(value.members, facts) : value.value;
}
