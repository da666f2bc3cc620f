import type { LoadTest } from '../load/loadRun';

/** A way over which everything is run, and a column of the table in docs/scenarios.md. */
export interface TableColumn {
  readonly title: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** What is run over every way, and a row of the table in docs/scenarios.md: one step of 20 connections. */
export interface TableRow {
  readonly title: string;
  readonly test: Omit<LoadTest, 'target'>;
  /** Messages of the step. */
  readonly sent: number;
  /** Deliveries of the step. */
  readonly expected: number;
  /** Members come and go, so that messages may also reach some they are not meant for. */
  readonly moves?: boolean;
  /** Messages of each round of a sender; absent: one. */
  readonly calls?: number;
  /** Titles of columns it cannot run over. */
  readonly not?: readonly string[];
  /** How it runs as one of several: by itself it has uneven groups. Absent: as by itself. */
  readonly inMix?: { readonly parameters: TableRow['test']['parameters']; receivers: number };
}

export const tableColumns: readonly TableColumn[] = [
  { title: 'WebSockets', config: {} },
  { title: 'WebSockets, MessagePack', config: { protocol: 'messagepack' } },
  { title: 'server-sent events', config: { transport: 'ServerSentEvents' } },
  { title: 'long polling', config: { transport: 'LongPolling' } },
  {
    title: 'long polling, MessagePack',
    config: { transport: 'LongPolling', protocol: 'messagepack' },
  },
  { title: 'dialect measure', config: { dialect: 'measure' } },
  { title: 'official client', config: { driver: 'sdk' } },
  { title: 'ASP.NET SignalR', config: { connectionType: 'AspNet' } },
];

/** Ways to the same hub as that of the last column, over which a mix runs. */
export const classicColumns: readonly TableColumn[] = [
  {
    title: 'ASP.NET SignalR, server-sent events',
    config: { connectionType: 'AspNet', transport: 'ServerSentEvents' },
  },
  {
    title: 'ASP.NET SignalR, long polling',
    config: { connectionType: 'AspNet', transport: 'LongPolling' },
  },
];

/** Messages of each sender in the step of {@link LoadTest}. */
export const perSender = 10;

/** Receivers are those of one round, in which every sender sends once. */
function row(
  useCase: string,
  senders: number,
  receivers: number,
  more: Pick<LoadTest, 'parameters' | 'config'> & Pick<TableRow, 'moves' | 'not' | 'inMix'> = {},
): TableRow {
  const { moves = false, not = [], inMix, ...test } = more;
  const [sent, expected] = [senders * perSender, receivers * perSender];
  const title = `\`${useCase}\``;
  return {
    ...{ title, test: { useCase, ...test }, sent, expected, moves, not },
    ...(inMix && { inMix }),
  };
}

const ownEcho = {
  ...{ call: 'Echo', arguments: ['{ticks}', '{text:100}'] },
  ...{ reply: 'callback', callback: 'Measure', receivers: 'self' },
};

export const tableRows: readonly TableRow[] = [
  row('echo', 20, 20),
  row('broadcast', 20, 20 * 20),
  row('sendToClient', 20, 20),
  row('sendToGroup', 20, 7 * 7 + 7 * 7 + 6 * 6, {
    parameters: { groupCount: 3 },
    inMix: { parameters: { groupCount: 4 }, receivers: 5 },
  }),
  row('frequentJoinLeaveGroup', 5, 2 * 2 + 2 * 2 + 1, {
    parameters: {
      ...{ groupCount: 3, sendersPer: 'group' },
      ...{ joinLeaveInterval: '40ms', sendingInterval: '20ms' },
    },
    // Only who does not send moves.
    config: { baseSending: 5, sendingSteps: 1, step: 15, singleStepDuration: '200ms' },
    moves: true,
  }),
  row('invoke', 20, 20, {
    parameters: { messageSize: undefined, method: 'GetConnectionId' },
    not: ['dialect measure'],
  }),
  {
    ...row('invoke', 20, 20 * 3, {
      parameters: {
        ...{ messageSize: undefined, method: 'StreamingDownload', reply: 'stream' },
        ...{ arguments: [{ text: '{text:100}' }, 3, 0], streamingItemCount: 3 },
      },
      not: ['dialect measure', 'ASP.NET SignalR'],
    }),
    title: '`invoke`, a stream',
  },
  {
    ...row('session', 20, 20, {
      parameters: {
        ...{ messageSize: undefined, sendingInterval: undefined, sessionInterval: '50ms' },
        // None waits for its answer: how many are sent must not hang on how soon that comes.
        steps: [{ call: 'GetConnectionId', reply: 'none' }, ownEcho],
      },
      not: ['dialect measure', 'official client'],
    }),
    sent: 20 * 2 * perSender,
    calls: 2,
  },
  row('streamingEcho', 20, 20, {
    parameters: { streamingItemCount: 1 },
    not: ['dialect measure', 'ASP.NET SignalR'],
  }),
  row('connectOnly', 0, 0, { parameters: { messageSize: undefined, sendingInterval: undefined } }),
];

/** Those that may run beside others: where members move, it is a run of its own. */
export const mixedRows = (column: TableColumn): readonly TableRow[] =>
  tableRows.filter((each) => each.moves !== true && isRun(each, column));

/** Whether a test runs this row over this way, by whichever client. */
export const isRun = ({ not = [] }: TableRow, { title }: TableColumn): boolean =>
  !not.some((column) => title.includes(column));

/** Heads of the table in docs/scenarios.md that are shorter than the title of their column. */
const heads: Readonly<Record<string, string>> = {
  'WebSockets, MessagePack': 'MessagePack',
  'server-sent events': 'SSE',
  'long polling': 'polling',
  'long polling, MessagePack': 'polling, msgpack',
  'dialect measure': 'measure',
  'official client': 'official',
  'ASP.NET SignalR': 'AspNet',
};

/** The table as it stands in docs/scenarios.md, cells of each line. */
export function tableCells(): string[][] {
  const head = ['`scenario.name`', ...tableColumns.map(({ title }) => heads[title] ?? title)];
  const body = tableRows.map((each) => [
    each.title,
    ...tableColumns.map((column) => (isRun(each, column) ? '✓' : '')),
  ]);
  return [head, ...body, ['a mix of them', ...tableColumns.map(() => '✓')]];
}
