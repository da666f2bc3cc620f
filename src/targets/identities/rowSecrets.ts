import type { Endpoint, IdentityRow, PersonalEndpoint } from '../../base/endpoint';
import type { RowName } from '../../base/personalText';
import type { Row } from '../../base/rows';
import { isSecretName } from '../../base/secretName';
import { hideSecrets } from '../../base/text';

/** Shorter values are too common in ordinary text to be taken out of it. */
export const shortestSecret = 6;

const hidden = '(redacted)';
/** A JSON web token: made ones are known to nobody but the worker that has made them. */
const webToken = /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g;

/** Takes out of texts what lets somebody in, also where each connection has its own. */
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
    const hideWord = (word: string): string => (this.ofRows.has(word) ? hidden : word);
    return shown.replace(webToken, hidden).replace(/[^\s"'<>,;&]{6,}/g, (word) => {
      const equals = word.indexOf('=');
      if (this.ofRows.has(word) || equals < 0) return hideWord(word);
      return word.slice(0, equals + 1) + hideWord(word.slice(equals + 1));
    });
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
        if (typeof value !== 'string' || value.length < shortestSecret) continue;
        for (const word of [value, encodeURIComponent(value), ...value.split(/[\s"'<>,;&]+/)])
          if (word.length >= shortestSecret) this.ofRows.add(word);
      }
  }
}

/** Columns that hold what lets somebody in, by their names or by where their values go. */
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
