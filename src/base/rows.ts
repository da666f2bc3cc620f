/** Rows of values: identities, and data for messages. */

/** What a column of a row holds: a text in CSV files, any value of JSON elsewhere. */
export type RowValue =
  | string
  | number
  | boolean
  | null
  | readonly RowValue[]
  | { readonly [name: string]: RowValue };

export type Row = Readonly<Record<string, RowValue>>;

/** A text of a row's value, as it stands in headers and within other text. */
export const valueText = (value: RowValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
