/** A run as one self-contained page without scripts. */
import { say } from '../../base/sentence';
import path from 'node:path';
import { fill } from '../../base/text';
import { latencyWords, plural, formatCount } from '../../base/units';
import { latencyOrLost } from '../../measure/show/chartWords';
import { callBars, callRows, lastStepWithCalls } from '../../measure/show/callTable';
import { addLateSeries } from '../../measure/show/timeSeries';
import { generatorTable, searchKindTexts } from '../../measure/show/panelTables';
import {
  isEmptyTable,
  reports,
  type ReportedRun,
  decisiveStep,
  sumLosses,
  stepNumbers,
  reportTiles,
  type ReportTile,
} from '../../measure/report/reportModel';
import { remainingReasons, verdictSentence } from '../../measure/show/verdictSentence';
import type { Snapshot } from '../../measure/snapshot';
import type { GeneratorHealth, StepSummary } from '../../measure/summary';
import { couldNotConnect } from '../../measure/judge/reason';
import type { Comparison } from '../../measure/compare/comparison';
import {
  remainingComparisonReasons as otherDifferences,
  comparisonState,
  changeMarks,
  comparisonRows,
} from '../../measure/compare/comparisonWords';
import { panelStrings } from '../../measure/show/panelStrings';
import { toReportedRun, type InterruptedRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { describeLoad, describeUnusual, describeSamplesEnd } from '../runWords';
import {
  legendSample,
  svgChart,
  type SvgLine,
  chartSize,
  chartsOverTime,
  evenAxis,
  latencyAxis,
  latencyLimitLines,
  type ReportChart,
  spectrumChart,
  chartDescription,
  roundAxisStep,
} from './reportCharts';
import { escapeMarkup, scenarioNameFromId } from './plainText';
import type { Slo } from '../../base/slo';
import { missedObjectiveWords, searchedValueWords } from '../../measure/show/searchSentence';
import {
  representativeStep,
  triesByValue,
  type SearchStep,
  type SearchSummary,
} from '../../base/searchSummary';

const mostRows = 200;
const mostReasons = 20;

/** @param snapshots oldest first; empty: no charts over time */
export function htmlReport(
  result: Result,
  snapshots: readonly Snapshot[],
  notCompared?: string,
): string {
  const { id, scenario, target, verdict, tool, machine, startedAt, baseline } = result;
  const decisive = decisiveStep(result);
  const charts = chartsOverTime(addLateSeries(snapshots, result.observed), scenario.slo);
  const spectrum = spectrumChart(decisive);
  const search = result.search && searchChart(result.search, scenario.slo);
  const marks = describeUnusual(scenario, target);
  const last = snapshots.at(-1);
  const cut = last && describeSamplesEnd(result, last);
  const where = [describeLoad(scenario), marks, `→ ${target.url}`].filter((each) => each !== '');
  return page(scenarioNameFromId(id), [
    header(scenarioNameFromId(id), where.join(' '), id),
    sentence(verdictSentence(result), couldNotConnect(result) ? 'fail' : verdict.status),
    list(remainingReasons(result).slice(0, mostReasons)),
    baseline
      ? sentence(
          baseline.sentence.replace(' ', ' compared with the baseline: '),
          baselineTones[comparisonState(baseline)],
        )
      : '',
    ...(notCompared ? [note(`Not compared with a baseline: ${notCompared}.`)] : []),
    tiles(result, decisive),
    ...(charts.length === 0 ? [note(panelStrings.noSamples)] : []),
    ...(cut === undefined ? [] : [note(cut)]),
    '<div class="grid">',
    ...(search ? [figure(search)] : []),
    ...charts.map(figure),
    ...(spectrum ? [figure(spectrum)] : []),
    units(result),
    `<div>${reportCard('connections', result)}${generatorCard(decisive?.generator)}</div>`,
    '</div>',
    baseline ? baselineCard(baseline) : '',
    ...wideCards(result),
    errorsCard(result),
    `<footer>${escapeMarkup(`signalr-bench ${tool.version}, Node ${machine.node}, ${machine.cores} cores, ${plural(machine.workers, 'worker')}, ${startedAt}`)}</footer>`,
  ]);
}

export function interruptedHtml(run: InterruptedRun, snapshots: readonly Snapshot[]): string {
  const id = path.basename(path.resolve(run.path));
  const shown = toReportedRun(run);
  return page(scenarioNameFromId(id), [
    header(scenarioNameFromId(id), '', id),
    sentence(
      run.problem === undefined
        ? `■ interrupted; ${panelStrings.interruptedWhy}`
        : `■ no result: ${run.problem}`,
      'incomplete',
    ),
    '<div class="grid">',
    ...chartsOverTime(snapshots, undefined).map(figure),
    '</div>',
    ...wideCards(shown),
    run.problem === undefined ? errorsCard(shown) : '',
  ]);
}

/** Loads and runs nothing, whatever a hostile text says. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

function page(title: string, parts: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeMarkup(title)} · SignalR Benchmark</title>`,
    `<style>${reportStyle}</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...parts.filter((part) => part !== ''),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const header = (title: string, where: string, id: string): string =>
  `<header><h1>${escapeMarkup(title)}</h1><p class="quiet">${escapeMarkup(where, 600)}</p><p class="quiet">${escapeMarkup(id)}</p></header>`;

function sentence(text: string, status: string): string {
  const [, sign = '', rest = text] = /^([✓✗⚠■○]) ([^]*)$/u.exec(text) ?? [];
  return `<p class="verdict ${escapeMarkup(status)}"><span aria-hidden="true">${sign}</span> <strong>${escapeMarkup(rest, 2000)}</strong></p>`;
}

const list = (texts: readonly string[]): string =>
  texts.length === 0
    ? ''
    : `<ul class="reasons">${texts.map((text) => `<li>${escapeMarkup(text, 600)}</li>`).join('')}</ul>`;

const note = (text: string): string => `<p class="quiet">${escapeMarkup(text)}</p>`;

const card = (title: string, parts: readonly string[]): string =>
  `<section class="card"><h2>${escapeMarkup(title)}</h2>${parts.join('\n')}</section>`;

const baselineTones = {
  same: 'pass',
  unshown: 'unshown',
  better: 'pass',
  worse: 'fail',
  unlike: 'incomplete',
} as const;

function baselineCard(comparison: Comparison): string {
  const { a, steps, differences } = comparison;
  const tables = steps.slice(-mostCompared).map((step) => {
    const name = `Step ${formatCount(step.index)}`;
    const rows = comparisonRows(step).map(({ name: row, a: before, b: now, verdict, ...each }) => {
      const change = changeMarks[verdict ?? 'same'] + each.change;
      return [row, before, now, change, each.interval];
    });
    return table([name, 'baseline', 'now', 'change', '95 % interval'], rows, name);
  });
  const changed = differences.slice(0, mostReasons);
  return card('Compared with the baseline', [
    note(`Baseline: ${a.id}, tool ${a.tool}.`),
    list(otherDifferences(comparison).slice(0, mostReasons)),
    ...tables,
    list(changed.map(({ what, a: before, b: now }) => `${what}: ${before} → ${now}`)),
  ]);
}

const mostCompared = 20;

function tiles({ connections, steps, scenario }: Result, step: StepSummary | undefined): string {
  const all = reportTiles(
    {
      step: step && stepNumbers(step),
      limitUs: scenario.slo.latencyUs.p99,
      ...{ connections, connectP99Us: connections.connectUs.p99, losses: sumLosses(steps) },
    },
    panelStrings,
  );
  const tile = ({ label, value, of, details }: ReportTile): string =>
    `<div class="tile"><dt>${escapeMarkup(label)}</dt><dd><b>${escapeMarkup(value)}</b> <span class="quiet">${escapeMarkup(of)}</span></dd><dd class="quiet">${escapeMarkup(details)}</dd></div>`;
  return `<dl class="tiles">${all.map(tile).join('')}</dl>`;
}

function figure({ id, title, svg, legend, heads, rows, notes }: ReportChart): string {
  const items = legend.map((line) => `<li>${legendSample(line)} ${escapeMarkup(line.label)}</li>`);
  return [
    `<figure class="card chart-${id}"><figcaption><h2>${escapeMarkup(title)}</h2></figcaption>`,
    `<div class="chart">${svg}</div>`,
    `<ul class="legend">${items.join('')}</ul>`,
    `<details><summary>${escapeMarkup(`${title}, ${panelStrings.asTable}`)}</summary>`,
    table(heads, rows, title),
    ...notes.map(note),
    '</details></figure>',
  ].join('\n');
}

function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  caption: string,
  textColumns: readonly number[] = [],
): string {
  const kind = (at: number): string => (textColumns.includes(at) ? ' class="text"' : '');
  const head = heads.map((text, at) => `<th scope="col"${kind(at)}>${escapeMarkup(text)}</th>`);
  const lines = rows.map((cells) => {
    const all = cells.map((text, at) =>
      at === 0
        ? `<th scope="row"${kind(at)}>${escapeMarkup(text)}</th>`
        : `<td${kind(at)}>${escapeMarkup(text)}</td>`,
    );
    return `<tr>${all.join('')}</tr>`;
  });
  const top = heads.length === 0 ? '' : `<thead><tr>${head.join('')}</tr></thead>`;
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeMarkup(caption)}"><table><caption>${escapeMarkup(caption)}</caption>${top}<tbody>${lines.join('\n')}</tbody></table></div>`;
}

function reportCard(name: keyof typeof reports, run: ReportedRun, before: string[] = []): string {
  const report = reports[name](run, panelStrings, mostRows);
  const { title, heads, rows, textColumns, notes, sentences } = report;
  if (isEmptyTable(report)) return '';
  return card(title, [
    ...before,
    ...(rows.length === 0 ? [] : [table(heads, rows, title, textColumns)]),
    ...notes.map(note),
    list(sentences),
  ]);
}

function callDrawing({ steps }: ReportedRun): string[] {
  const last = lastStepWithCalls(steps);
  const { bars, leastUs, mostUs } = callBars(last ? callRows(last) : []);
  if (last === undefined || bars.length === 0) return [];
  const { callsChart, callsLegend } = panelStrings;
  const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;
  const drawn = bars.map(
    ({ name, p50, p99, max }) =>
      `<span>${escapeMarkup(name)}</span><i><b style="left:${percent(p50)};width:${percent(p99 - p50)}"></b><u style="left:${percent(max)}"></u></i>`,
  );
  return [
    `<h3>${escapeMarkup(fill(callsChart, formatCount(last.index)))}</h3>`,
    `<div class="bars" aria-hidden="true">${drawn.join('')}</div>`,
    note(fill(callsLegend, latencyWords(leastUs), latencyWords(mostUs))),
  ];
}

const wideCards = (run: ReportedRun): string[] => [
  ...(['steps', 'repeats', 'entries'] as const).map((name) => reportCard(name, run)),
  reportCard('calls', run, callDrawing(run)),
  ...(['pushed', 'server', 'agents', 'traffic'] as const).map((name) => reportCard(name, run)),
];

const errorsCard = (run: ReportedRun): string =>
  reportCard('errors', run) || card(panelStrings.errorsTable, [note(panelStrings.noErrors)]);

function generatorCard(health: GeneratorHealth | undefined): string {
  if (health === undefined) return '';
  const title = panelStrings.generatorHealth;
  return card(title, [table([], generatorTable(health, panelStrings).rows, title)]);
}

function units({ recommendation, recommendationProblem, estimate }: Result): string {
  const title = panelStrings.units;
  if (!recommendation) {
    const why = recommendationProblem ?? 'Nothing valid was measured.';
    return card(title, [`<p>${escapeMarkup(`${panelStrings.noRecommendation} ${why}`, 600)}</p>`]);
  }
  const { headline, reasons, notes, planned } = recommendation;
  const before = estimate
    ? estimate.unit === null
      ? panelStrings.estimateNone
      : fill(panelStrings.estimatedUnit, formatCount(estimate.unit))
    : '';
  const said = [planned?.sentence ?? '', ...reasons, ...notes, before];
  const unique = [...new Set(said.filter((text) => text !== ''))].slice(0, mostReasons);
  return card(title, [`<p><strong>${escapeMarkup(headline, 600)}</strong></p>`, list(unique)]);
}

const reportStyle = `
:root{--bg:#fff;--fg:#24292f;--quiet:#59636e;--card:#f8f8f8;--edge:#d9dee3;--grid:#e1e5e9;--band:#eef1f4;--good:#1a7f37;--warn:#8a6100;--bad:#c72e0f;
--line-p50:#005fb8;--line-p90:#2e7d32;--line-p99:#8a6100;--line-p999:#7b3fa0;--line-max:#b5200d;--line-offered:#b9c0c7;--line-sent:#005fb8;--line-received:#2e7d32;
--line-connected:#005fb8;--line-failed:#8a6100;--line-dropped:#7b3fa0;--line-errors:#b5200d;--line-due:#8a6100;--line-send:#59636e}
@media screen and (prefers-color-scheme:dark){:root{--bg:#1f1f1f;--fg:#d4d4d4;--quiet:#a2a2a2;--card:#181818;--edge:#333;--grid:#2f2f2f;--band:#242424;--good:#73c991;--warn:#cca700;--bad:#f14c4c;
--line-p50:#4daafc;--line-p90:#89d185;--line-p99:#cca700;--line-p999:#c586c0;--line-max:#f48771;--line-offered:#5a5a5a;--line-sent:#4daafc;--line-received:#89d185;
--line-connected:#4daafc;--line-failed:#cca700;--line-dropped:#c586c0;--line-errors:#f48771;--line-due:#cca700;--line-send:#a2a2a2}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,"Segoe UI","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1240px;margin:0 auto;padding:16px}
h1{margin:0;font-size:20px;overflow-wrap:anywhere}
h2{margin:0 0 8px;font-size:12px;letter-spacing:.04em;text-transform:uppercase;color:var(--quiet)}
p{margin:4px 0;overflow-wrap:anywhere}
.quiet,footer{color:var(--quiet)}
.verdict{margin:14px 0 8px;font-size:17px}
.verdict span{font-weight:700}
.verdict strong{font-weight:600}
.pass span{color:var(--good)}.fail span{color:var(--bad)}.invalid span,.incomplete span{color:var(--warn)}
.reasons{margin:6px 0;padding-left:20px;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:10px;margin:12px 0}
.tile,.card{background:var(--card);border:1px solid var(--edge);border-radius:4px;padding:10px 12px}
.tile dt{color:var(--quiet);font-size:12px}.tile dd{margin:0}.tile b{font-size:22px;font-weight:600}.tile dd+dd{font-size:12px}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:12px}
figure,section.card{margin:0;min-width:0}
section.card{margin-top:12px}.grid>section.card,.grid section.card:first-child{margin-top:0}
.chart{overflow-x:auto}
.chart svg{display:block;width:100%;min-width:480px;height:auto}
svg text{fill:var(--quiet);font-size:11px;paint-order:stroke;stroke:var(--card);stroke-width:3px}
svg text.limit{fill:var(--bad)}
svg path{fill:none;stroke:var(--line);stroke-linejoin:round}
svg circle{fill:var(--line)}svg .dot{fill:var(--good)}svg .hollow{fill:var(--card);stroke:var(--bad);stroke-width:2}
svg .grid{stroke:var(--grid)}svg .limit{stroke:var(--bad);stroke-dasharray:5 4}svg text.limit{stroke:var(--card);stroke-dasharray:none}
svg .band{fill:var(--band)}svg .bare{fill:none}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;list-style:none;margin:6px 0 0;padding:0;color:var(--quiet);font-size:12px}
.sample{width:24px;height:8px;vertical-align:middle}
details{margin-top:6px}summary{cursor:pointer;color:var(--quiet);font-size:12px}
.scroll{overflow:auto;max-height:480px}
table{border-collapse:collapse;width:100%;white-space:nowrap}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:3px 8px;text-align:right;border-bottom:1px solid var(--edge);font-weight:400}
thead th{color:var(--quiet)}th.text,td.text{text-align:left}td.text{white-space:normal;min-width:120px;overflow-wrap:anywhere}
tbody th:first-child,thead th:first-child{text-align:left;padding-left:0}
h3{margin:0 0 6px;font-size:13px;font-weight:600}
.bars{display:grid;grid-template-columns:minmax(80px,max-content) 1fr;gap:5px 12px;align-items:center;max-width:760px;font-size:12px}
.bars span{overflow:hidden;text-overflow:ellipsis;max-width:min(320px,40vw);white-space:nowrap}
.bars i{position:relative;height:12px;background:var(--band);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bars b{position:absolute;top:1px;bottom:1px;min-width:2px;background:var(--line-p50);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bars u{position:absolute;top:0;bottom:0;border-left:2px solid var(--line-max)}
:focus-visible{outline:2px solid var(--line-p50);outline-offset:2px}
footer{margin-top:14px;font-size:12px}
@media print{@page{margin:12mm}body{font-size:11px}main{padding:0;max-width:none}.card,.tile{break-inside:avoid;background:none}.scroll{overflow:visible;max-height:none}.chart svg{min-width:0}details:not([open]){display:none}.grid{grid-template-columns:1fr 1fr}
svg .band{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`
  .trim()
  .replaceAll('\n', '');

const mostTries = 500;

/** Latency over the searched value: steps as dots, the interval as a band. */
export function searchChart(search: SearchSummary, slo: Slo): ReportChart | undefined {
  const steps = search.steps.slice(-mostTries);
  const rising = triesByValue(search.steps).slice(-mostTries).map(representativeStep);
  const values = rising.flatMap(({ p50, p99 }) => [p50, p99]).filter((us) => us !== null);
  if (values.length === 0) return undefined;
  const limits = latencyLimitLines(slo).filter(({ metric }) => metric === 'p99');
  const word = panelStrings[searchKindTexts[search.of]];
  const title = fill(panelStrings.searchChartBy, word);
  const line = (id: 'p50' | 'p99', dash: readonly number[], widthPx: number): SvgLine => ({
    ...{ id, dash, widthPx },
    points: rising.map((step) => [step.value, step[id] === null ? null : Math.max(1, step[id])]),
  });
  const lines = [line('p50', [4, 3], 1.5), line('p99', [], 2.5)];
  const most = Math.max(1, ...rising.map(({ value }) => value)) * 1.05;
  const { low, high } = search;
  return {
    ...{ id: 'search', title },
    svg: svgChart({
      ...{ ...chartSize, lines },
      title: chartDescription(
        title,
        rising.map(
          (step) => `${say(searchedValueWords(search, step.value))} ${outcomeWords(step)}`,
        ),
      ),
      x: evenAxis(most, roundAxisStep(most), (at) => formatCount(at)),
      y: latencyAxis([...values, ...limits.map(({ at }) => at)]),
      ...(low !== null && high !== null && { bands: [{ from: low, to: high, label: '' }] }),
      limits: limits.map((limit) => ({ ...limit, early: true as const })),
      dots: rising.flatMap(({ value, p99, status }) =>
        p99 === null ? [] : [{ at: [value, Math.max(1, p99)] as const, hollow: status !== 'pass' }],
      ),
    }),
    legend: lines.map((each) => ({ ...each, label: each.id })),
    heads: ['#', word, 'p50', 'p99', panelStrings.lostTile, ''],
    rows: steps.map((step) => [
      formatCount(step.index),
      say(searchedValueWords(search, step.value)),
      ...[step.p50, step.p99].map((us) => latencyOrLost(us, panelStrings)),
      formatCount(step.lost),
      outcomeWords(step),
    ]),
    notes: [],
  };
}

function outcomeWords({ status, broken, tooShort }: SearchStep): string {
  if (status === 'pass') return panelStrings.stepHeld;
  if (status === 'invalid') return panelStrings.stepNotOffered;
  if (tooShort) return panelStrings.stepTooShort;
  if (status === 'incomplete') return panelStrings.verdictIncomplete;
  return broken === undefined ? panelStrings.stepMissed : say(missedObjectiveWords(broken));
}
