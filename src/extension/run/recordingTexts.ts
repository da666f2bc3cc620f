import { visibleLine, type Translate } from '../../base/text';
import { formatCount } from '../../base/units';
import { trafficRows, trafficText, type RecordProgress } from '../../record/watchRecording';

/** Of calls and of callbacks: a hover has no room for more. */
const mostRows = 10;

/** What the status bar shows of a recording, and what its hover shows, in Markdown. */
export function recordingTexts(
  progress: RecordProgress,
  url: string,
  t: Translate,
): { readonly text: string; readonly hover: string } {
  const { counts, dropped } = progress;
  const { clients, everSeen, messages, unknown } = counts;
  const tables = (['calls', 'callbacks'] as const)
    .map((kind) => ({ kind, ...trafficRows(progress, kind, mostRows) }))
    .filter(({ rows }) => rows.length > 0)
    .flatMap(({ kind, rows, more }, at) => {
      const heads = [
        kind === 'calls' ? t('Call') : t('Callback'),
        t('Seen'),
        t('Per s'),
        t('Size'),
      ];
      return [
        // One table, so that all its columns are as wide.
        ...(at === 0
          ? ['', row(heads), '|:--|--:|--:|--:|']
          : [row([gap]), row(heads.map((head) => `**${head}**`))]),
        ...rows.map(({ name, seen, perS, size }) => row([code(name), seen, perS, size])),
        ...(more > 0 ? [row([`… ${t('{0} more', formatCount(more))}`])] : []),
      ];
    });
  const passed =
    everSeen === 0
      ? [t('no client yet')]
      : [
          everSeen > clients
            ? t('clients {0}, {1} were seen', formatCount(clients), formatCount(everSeen))
            : t('clients {0}', formatCount(clients)),
          `${t('out')} ${trafficText(progress, 'out')}`,
          `${t('in')} ${trafficText(progress, 'in')}`,
        ];
  if (unknown > 0) passed.push(t('{0} not understood', formatCount(unknown)));
  if (dropped > 0) passed.push(t('{0} left out, the disk is too slow', formatCount(dropped)));
  return {
    text: t('clients {0}, messages {1}', clients, formatCount(messages.out + messages.in)),
    hover: [t('Recording clients of {0}', code(url, 300)), '', passed.join('  \n'), ...tables].join(
      '\n',
    ),
  };
}

const gap = '&emsp;';
const row = (cells: readonly string[]): string => `| ${cells.join(` | ${gap}`)} |`;

/** A text from outside as code: nothing in it is Markdown, and it ends neither the code nor its cell. */
const code = (text: string, most = 60): string =>
  `\`${visibleLine(text)
    .replace(/[`|\\]/g, '·')
    .slice(0, most)}\``;
