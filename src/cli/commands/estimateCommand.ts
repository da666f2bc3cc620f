import { ExpectedError } from '../../base/expectedError';
import { formatCount, formatShare } from '../../base/units';
import { formatBilling, priceOf, type Price } from '../../capacity/judge/billing';
import { scenarioEstimate, type EstimateModel } from '../../capacity/estimate';
import {
  type Edition,
  type Estimate,
  type EstimateOptions,
  type NeighbourUse,
  estimateUnits,
  priceUnits,
} from '../../capacity/model';
import { formatMethod } from '../../capacity/capacityWords';
import { messageSizeProblems } from '../../capacity/load/wireSizes';
import { exitCode } from '../exitCode';
import { jsonDocument } from '../../base/text';
import { plannedLines } from '../views/finalScreen';
import { paintAll, wrapped, type Line } from '../views/line';
import type { Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import type { ScenarioParser } from '../../run/scenarioFile';
import { hasErrors, loadScenario } from '../scenarioOf';
import { canColour, widthOf, type ProcessIo } from '../io';

interface EstimateFlags {
  readonly edition?: Edition;
  readonly headroom?: number;
  /** Price of a million billed messages beyond those included. */
  readonly messagePrice?: number;
  readonly unitPrice?: number;
  readonly hours?: number;
  readonly json?: boolean;
}

export interface EstimateDeps {
  readonly parseScenario: ScenarioParser;
  readonly capacity: () => Promise<EstimateModel>;
}

export async function estimateCommand(
  file: string,
  flags: EstimateFlags,
  io: ProcessIo,
  deps: EstimateDeps,
): Promise<number> {
  const refused: Problem[] = [];
  const parse = withSizeProblems(deps.parseScenario, refused);
  const { scenario } = await loadScenario({ file }, io, parse);
  const model = await deps.capacity();
  const { json, unitPrice, messagePrice, hours, ...options } = flags;
  const found = scenarioEstimate(scenario, options, model);
  const width = Math.min(100, widthOf(io.stdout));
  const tooLarge = refused[0] && { problem: refused[0].message };
  if ('problem' in found) {
    if (found.problem !== tooLarge?.problem) throw new ExpectedError('no-table', found.problem);
    const none = wrapped(`No size takes this · ${found.problem}`, width, '  ', 'bold');
    const document = { unit: null, ...found, ...loadFields(scenario, options, model) };
    io.stdout.write(json ? jsonDocument(document) : paintAll(none, canColour(io)));
    return exitCode.done;
  }
  const { estimate } = found;
  const prices = { unitHour: unitPrice, messages: messagePrice, hours };
  const price = priceOf(estimate, scenario, prices);
  const units = { ...estimateUnits, ...(price !== undefined && priceUnits) };
  const lines = estimateLines(estimate, width, billingText(estimate, scenario, price));
  const document = { ...estimate, ...tooLarge, ...priceFields(price, flags), units };
  io.stdout.write(json ? jsonDocument(document) : paintAll(lines, canColour(io)));
  return exitCode.done;
}

/** Adds problems of messages that a service refuses for their size. */
export const withSizeProblems =
  (parse: ScenarioParser, refused: Problem[] = []): ScenarioParser =>
  (text, given) => {
    const parsed = parse(text, given);
    if (!hasErrors(parsed.problems)) refused.push(...messageSizeProblems(parsed));
    return { ...parsed, problems: [...parsed.problems, ...refused] };
  };

function loadFields(scenario: Scenario, options: EstimateOptions, model: EstimateModel): object {
  const loadOf = (asked: Scenario) => model.loadOf(asked, true);
  const found = scenarioEstimate(scenario, options, { ...model, loadOf });
  const units = estimateUnits;
  if ('problem' in found) return { units };
  const { loads, product, edition, headroom, formula, billing } = found.estimate;
  return { ...{ loads, product, edition, headroom, formula }, ...(billing && { billing }), units };
}

function priceFields(price: Price | undefined, { hours }: EstimateFlags): object {
  if (price === undefined) return {};
  return { price, ...(hours === undefined && { price_per_month: price.total }) };
}

function billingText(estimate: Estimate, scenario: Scenario, price: Price | undefined): string[] {
  const words = formatBilling(estimate, scenario);
  return [
    ...(words === undefined ? [] : [words]),
    ...(price === undefined ? [] : [priceWords(price)]),
  ];
}

/** `Price of Unit 2 for 720 hours: 43.20 for Units and 12.00 for messages beyond the included ones, 55.20 in all.` */
function priceWords({ unit, hours, units, messages, total }: Price): string {
  const beyond = 'beyond the included ones';
  const parts = [
    ...(units === undefined ? [] : [`${formatCount(units, 2)} for Units`]),
    ...(messages === undefined ? [] : [`${formatCount(messages, 2)} for messages ${beyond}`]),
  ];
  const sum = parts.length < 2 ? '' : `, ${formatCount(total, 2)} in all`;
  const of = unit === undefined ? '' : ` of Unit ${formatCount(unit)}`;
  return `Price${of} for ${formatCount(hours, Number.isInteger(hours) ? 0 : 2)} hours: ${parts.join(' and ')}${sum}.`;
}

function estimateLines(estimate: Estimate, width: number, billing: readonly string[]): Line[] {
  const { unit, binding, neighbours, formula, notes, advice } = estimate;
  const size = unit === null ? 'No size of this guide fits' : `Unit ${formatCount(unit)}`;
  const lines = (texts: readonly string[]): Line[] =>
    texts.flatMap((text) => wrapped(text, width, '  '));
  return [
    ...wrapped(`${size} · ${binding.text}`, width, '  ', 'bold'),
    ...plannedLines(estimate, width, { first: '', others: '  ' }),
    { text: '' },
    { text: '   Unit  connections  inbound  outbound', tone: 'dim' },
    ...neighbours.map(neighbourLine),
    { text: '' },
    ...lines(formula),
    ...lines([...(advice === undefined ? [] : [`${advice}.`]), ...notes, ...billing]),
    { text: '' },
    ...lines([sourceText(estimate)]),
  ];
}

function neighbourLine({ unit, recommended, connections, inbound, outbound }: NeighbourUse): Line {
  const mark = recommended ? '▸' : ' ';
  const text = `${mark}${formatCount(unit).padStart(6)}${formatShare(connections).padStart(13)}${formatShare(inbound).padStart(9)}${formatShare(outbound).padStart(10)}`;
  return recommended ? { text, tone: 'bold' } : { text };
}

function sourceText(estimate: Estimate): string {
  const { binding, edition } = estimate;
  const { source } = binding;
  const place = source
    ? `${source.title}, ${source.edition}, "${source.heading}"${source.line === undefined ? '' : `, line ${source.line}`}`
    : `edition ${edition}`;
  return `${place} · ${formatMethod(estimate)}`;
}
