/** Rows of CSV (RFC 4180) and JSON lines files. */
import { parse, CsvError } from 'csv-parse/sync';
import { ExpectedError } from '../../base/expectedError';
import type { Row } from '../../base/personalText';
import { safeExcerpt } from '../../scenario/text/words';
import { parseObject } from '../../wire/message/jsonScan';

/** Each worker gets a copy of the rows. */
export const mostFileBytes = 16 * 1024 * 1024;
const mostRows = 1_000_000;
const mostColumns = 200;
const mostRowBytes = 256 * 1024;

/** @throws ExpectedError `data-file`, with the line */
export function readRows(file: string, text: string): Row[] {
  const rows = /\.(?:jsonl|ndjson)$/i.test(file) ? jsonRows(file, text) : csvRows(file, text);
  if (rows.length === 0)
    throw wrong(
      file,
      'has no rows: its first line names the columns, and each further line is one.',
    );
  if (rows.length > mostRows) throw wrong(file, 'has more than 1,000,000 rows.');
  return rows;
}

const wrong = (file: string, what: string): ExpectedError =>
  new ExpectedError('data-file', `${file} ${what}`);

function csvRows(file: string, text: string): Row[] {
  if (/\.json$/i.test(file) || /^\uFEFF?\s*[[{]/.test(text))
    throw wrong(
      file,
      'is read as CSV, but begins like JSON: write one object a line, without a list around them, into a file that ends with .jsonl.',
    );
  let records: string[][];
  try {
    records = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      skip_empty_lines: true,
      max_record_size: mostRowBytes,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw wrong(file, csvProblem(error));
  }
  const [head = [], ...others] = records;
  const columns = head.map((name) => name.trim());
  const empty = columns.indexOf('');
  if (empty !== -1) throw wrong(file, `has no name for column ${empty + 1} in its first line.`);
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined) throw wrong(file, `names the column ${safeExcerpt(twice)} twice.`);
  if (columns.length > mostColumns) throw wrong(file, `has more than ${mostColumns} columns.`);
  return others.map((values) =>
    Object.fromEntries(columns.map((column, at) => [column, values[at]!])),
  );
}

/** Spreadsheets write semicolons where numbers have commas. */
const delimiterOf = (text: string): string => /[,;\t]/.exec(text.split(/\r?\n/, 1)[0]!)?.[0] ?? ',';

/** Without contents of the file, which may be secret. */
function csvProblem({ code, lines, record }: CsvError & Record<string, unknown>): string {
  const line = Number(lines);
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH': {
      const count = Array.isArray(record) ? record.length : 0;
      return `line ${line} has ${count} ${count === 1 ? 'value' : 'values'}, another number than the columns of its first line. Put quotes around a value with a comma, and write a comma for each value that is empty.`;
    }
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'has a quote that is never closed.';
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return `line ${line} has a quote inside a value. Write it twice, and quotes around the value.`;
    case 'CSV_MAX_RECORD_SIZE':
      return `line ${line} belongs to a row of more than ${mostRowBytes / 1024} KB. Is a quote missing?`;
    default:
      return `line ${line} is not CSV.`;
  }
}

function jsonRows(file: string, text: string): Row[] {
  const rows: Row[] = [];
  let columns: readonly string[] | undefined;
  for (const [at, source] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (source.trim() === '') continue;
    const line = at + 1;
    if (source.length > mostRowBytes)
      throw wrong(file, `line ${line} is longer than ${mostRowBytes / 1024} KB.`);
    const row = parseObject(source) as Row | undefined;
    if (row === undefined)
      throw wrong(file, `line ${line} is not a JSON object, such as {"user":"ann"}.`);
    columns ??= Object.keys(row);
    if (columns.length > mostColumns) throw wrong(file, `has more than ${mostColumns} columns.`);
    const missing = columns.find((column) => !Object.hasOwn(row, column));
    if (missing !== undefined)
      throw wrong(file, `line ${line} has no ${safeExcerpt(missing)}, which the first line has.`);
    rows.push(row);
    if (rows.length > mostRows) break;
  }
  return rows;
}
