import type { Endpoint, IdentityRow, PersonalEndpoint } from '../../base/endpoint';
import type { Row, RowName } from '../../base/personalText';
import {
  isSecretName,
  redacted,
  redactWebTokens,
  hideSecrets,
  minSecretLength,
} from '../../base/secrets';
import { decodeOrKeep } from '../../wire/socket/proxy';

/**
 * Forms in which a server may repeat a secret: as it was, encoded, in words, as value of a cookie or form, or as user and
 * password of basic authentication.
 */
export function secretForms(values: readonly string[]): string[] {
  const forms = values.flatMap((value) => {
    const pairs = value.split(/[;,&]/).filter((part) => part.includes('='));
    const members = pairs.map((pair) => pair.slice(pair.indexOf('=') + 1));
    const [, basic = ''] = /^Basic (\S+)$/.exec(value) ?? [];
    const login = Buffer.from(basic, 'base64').toString('utf8');
    const colon = login.indexOf(':');
    const both = [login, login.slice(0, Math.max(0, colon)), login.slice(colon + 1)];
    return [value, ...value.split(/\s+/), ...members, ...both];
  });
  const all = forms.flatMap((form) => [form, encodeURIComponent(form), decodeOrKeep(form)]);
  return [...new Set(all)].filter((form) => form.length >= minSecretLength);
}

/** Removes secrets from texts, also those of single connections. */
export class SecretHider {
  private readonly ofRows = new Set<string>();

  constructor(
    private readonly secrets: readonly string[],
    private readonly personal?: Endpoint['personal'],
  ) {
    const { identities, data } = personal ?? {};
    if (identities?.kind === 'rows') this.add(identities.rows.map(({ values }) => values));
    this.addRows(data?.rows ?? [], 'data');
  }

  add(rows: readonly IdentityRow['values'][]): void {
    this.addRows(rows, 'identity');
  }

  hide(text: string): string {
    const shown = hideSecrets(text, this.secrets);
    if (this.personal === undefined) return shown;
    const hideWord = (word: string): string => (this.isOfRows(word) ? redacted : word);
    // Only the worker knows the tokens that it makes.
    return redactWebTokens(shown).replace(/[^\s"'<>,;&]{6,}/g, (word) => {
      const equals = word.indexOf('=');
      if (equals < 0 || this.isOfRows(word)) return hideWord(word);
      return word.slice(0, equals + 1) + hideWord(word.slice(equals + 1));
    });
  }

  private isOfRows(word: string): boolean {
    if (this.ofRows.has(word)) return true;
    const begin = word.slice(0, -1);
    if (!word.endsWith('…') || begin.length < minSecretLength) return false;
    for (const secret of this.ofRows) if (secret.startsWith(begin)) return true;
    return false;
  }

  private addRows(rows: readonly Row[], name: 'identity' | 'data'): void {
    const { personal } = this;
    const [first] = rows;
    if (personal === undefined || first === undefined) return;
    const isSecret = secretColumns(personal, name);
    const columns = Object.keys(first).filter(isSecret);
    for (const row of rows)
      for (const column of columns) {
        const value = row[column];
        if (typeof value !== 'string' || value.length < minSecretLength) continue;
        for (const word of [value, encodeURIComponent(value), ...value.split(/[\s"'<>,;&]+/)])
          if (word.length >= minSecretLength) this.ofRows.add(word);
      }
  }
}

function secretColumns(personal: PersonalEndpoint, name: RowName): (column: string) => boolean {
  const texts = [
    ...Object.entries({ ...personal.headers, ...personal.query }).flatMap(([key, parts]) =>
      isSecretName(key) ? [parts] : [],
    ),
    personal.accessToken ?? [],
  ];
  const used = new Set(
    texts
      .flat()
      .flatMap((part) =>
        typeof part === 'object' && 'column' in part && part.name === name ? [part.column] : [],
      ),
  );
  return (column) => isSecretName(column) || used.has(column);
}
