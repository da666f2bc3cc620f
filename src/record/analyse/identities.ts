/** What differs by client, as rows of `config.identities`; secrets are references. */
export class Identities {
  private readonly columns = new Map<string, ReadonlyMap<number, unknown>>();
  private readonly known = new Map<string, string>();
  private readonly secretColumns = new Map<string, string>();

  /** @returns the name of the column with these values, by client */
  column(wanted: string, values: ReadonlyMap<number, unknown>): string {
    const key = JSON.stringify([...values].sort(([a], [b]) => a - b));
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const name = this.freeName(wanted);
    this.columns.set(name, values);
    this.known.set(key, name);
    return name;
  }

  /** @returns the name of the column with a reference; the same for the same name */
  secret(wanted: string): string {
    const known = this.secretColumns.get(wanted);
    if (known !== undefined) return known;
    const name = this.freeName(wanted);
    this.secretColumns.set(wanted, name);
    this.columns.set(name, new Map());
    return name;
  }

  get secrets(): readonly string[] {
    return [...this.secretColumns.values()].map(secretNameOf);
  }

  /**
   * A row for each client that has a value; where there are only secrets, one for all. A run gives rows to
   * connections whatever their kind: a client without a value has that of another one, in turn.
   */
  rows(clients: readonly number[]): Record<string, unknown>[] {
    if (this.columns.size === 0) return [];
    const secrets = new Set(this.secretColumns.values());
    const open = [...this.columns].filter(([name]) => !secrets.has(name));
    const ids = clients.filter((id) => open.some(([, values]) => values.has(id)));
    const lists = new Map(open.map(([name, values]) => [name, [...values.values()]]));
    return (ids.length === 0 ? [0] : ids).map((id, row) =>
      Object.fromEntries(
        [...this.columns].map(([name, values]) => {
          if (secrets.has(name)) return [name, `\${secret:${secretNameOf(name)}}`];
          const others = lists.get(name)!;
          return [name, values.has(id) ? values.get(id) : others[row % others.length]];
        }),
      ),
    );
  }

  private freeName(wanted: string): string {
    const plain = wanted.replace(/\W+/g, '').slice(0, 40) || 'value';
    // The value `token` of an identity is its access token.
    const start = plain.toLowerCase() === 'token' ? 'givenToken' : plain;
    let name = start;
    for (let number = 2; this.columns.has(name); number++) name = `${start}${number}`;
    return name;
  }
}

const secretNameOf = (column: string): string =>
  /^[A-Za-z]/.test(column) ? column.replaceAll('_', '-') : `value-${column.replaceAll('_', '-')}`;
