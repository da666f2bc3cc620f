/** What differs by client, as rows of `config.identities`; secrets are references. */
export class IdentityColumns {
  private readonly columns = new Map<string, ReadonlyMap<number, unknown>>();
  private readonly known = new Map<string, string>();
  private readonly secretColumns = new Map<string, readonly string[]>();

  column(wanted: string, values: ReadonlyMap<number, unknown>): string {
    const key = JSON.stringify([...values].sort(([a], [b]) => a - b));
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const name = this.freeName(wanted);
    this.columns.set(name, values);
    this.known.set(key, name);
    return name;
  }

  /** @param values only who has the same value is kept; empty: all clients have one secret @returns the column with references */
  secret(wanted: string, values: ReadonlyMap<number, unknown>): string {
    const different = [...new Set(values.values())];
    const numbers = [...values].map(([id, value]) => [id, 1 + different.indexOf(value)] as const);
    const key = `secret ${wanted} ${JSON.stringify(numbers)}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const name = this.freeName(wanted);
    const secret = secretNameOf(name);
    const names = different.map((_, at) => `${secret}-${at + 1}`);
    this.known.set(key, name);
    this.secretColumns.set(name, names.length === 0 ? [secret] : names);
    this.columns.set(
      name,
      new Map(numbers.map(([id, number]) => [id, referenceTo(`${secret}-${number}`)])),
    );
    return name;
  }

  /** Connections take the value `token` of their rows as access token. */
  tokens(secret: string, numbers: ReadonlyMap<number, number>): void {
    const nameOf = (number: number): string => `${secret}-${number}`;
    this.secretColumns.set('token', [...new Set(numbers.values())].map(nameOf));
    this.columns.set(
      'token',
      new Map([...numbers].map(([id, number]) => [id, referenceTo(nameOf(number))])),
    );
  }

  get secrets(): readonly string[] {
    return [...this.secretColumns.values()].flat();
  }

  /**
   * A row for each client with a value, or one where there are only secrets. Rows go to connections of every kind: missing
   * values are taken from other clients in turn.
   */
  rows(clients: readonly number[]): Record<string, unknown>[] {
    if (this.columns.size === 0) return [];
    const open = [...this.columns].filter(([, values]) => values.size > 0);
    const ids = clients.filter((id) => open.some(([, values]) => values.has(id)));
    const lists = new Map(open.map(([name, values]) => [name, [...values.values()]]));
    return (ids.length === 0 ? [0] : ids).map((id, row) =>
      Object.fromEntries(
        [...this.columns].map(([name, values]) => {
          const others = lists.get(name);
          if (others === undefined) return [name, referenceTo(secretNameOf(name))];
          return [name, values.has(id) ? values.get(id) : others[row % others.length]];
        }),
      ),
    );
  }

  private freeName(wanted: string): string {
    const plain = wanted.replace(/\W+/g, '').slice(0, 40) || 'value';
    const start = plain.toLowerCase() === 'token' ? 'givenToken' : plain;
    let name = start;
    for (let number = 2; this.columns.has(name); number++) name = `${start}${number}`;
    return name;
  }
}

const referenceTo = (secret: string): string => `\${secret:${secret}}`;

const secretNameOf = (column: string): string =>
  /^[A-Za-z]/.test(column) ? column.replaceAll('_', '-') : `value-${column.replaceAll('_', '-')}`;
