import { isMetric, objectives } from '../base/slo';
import type { Translate } from '../base/text';
import {
  distrusted,
  silentTarget,
  unreached,
  unreachedTexts,
} from '../measure/judge/unreachedTexts';
import {
  agentText,
  allOfEntryText,
  distrustText,
  latenessText,
  unreadText,
} from '../measure/judge/verdict';
import { findingTemplates } from '../measure/show/observedWords';
import { latenessTexts } from '../measure/show/latenessWords';
import { clockTexts } from '../measure/total/stepClocks';

/** Longer than any sentence of ours: what a server says is not looked through. */
const mostCharacters = 2000;

/** Between parts that are sentences by themselves. */
const separators = ['; ', ' + '] as const;
/** Between the parts of a sentence. Templates have it too, values only where they are sentences. */
const comma = ', ';

/** Translates sentences of runs, which are made in English: by the template a text was made from, and those of its values. */
export function sentencesIn(t: Translate): (text: string) => string {
  const known = [...sentenceTemplates()].sort(byFit).map(templateOf);
  const say = (text: string): string => recognised(text) ?? text;
  const recognised = (text: string): string | undefined => {
    const [, sign = '', words = ''] = /^([✓✗⚠■] )?([^]*)$/u.exec(text) ?? [];
    if (sign !== '') return `${sign}${say(words)}`;
    const parts = (separator: string): string | undefined => {
      const all = partsOf(text, separator);
      const said = all.map(recognised);
      if (said.every((each) => each === undefined)) return undefined;
      return said.map((each, at) => each ?? all[at]!).join(t(separator));
    };
    const sentences = separators.find((each) => partsOf(text, each).length > 1);
    if (sentences !== undefined) return parts(sentences);
    for (const { template, pieces } of known) {
      const values = valuesIn(text, pieces);
      if (values === undefined) continue;
      const begins =
        pieces[0] !== '' ||
        pieces[1]?.startsWith(' (') === true ||
        amount.test(values[0]!) ||
        isMetric(values[0]!);
      if (begins || recognised(values[0]!) !== undefined) return t(template, ...values.map(say));
    }
    return partsOf(text, comma).length > 1 ? parts(comma) : undefined;
  };
  return (text) => (text.length > mostCharacters ? text : say(text));
}

/** What a template begins with that is not a text of ours: the words of a server may end like one, too. */
const amount = /(?:^|\s)[\d.,]+ ?(?:%|[µm]?s|min|h|[KMG]?B)?$/;

const templateOf = (template: string) => ({ template, pieces: template.split(/\{\d\}/) });

/** The best fitting template first: those that begin with words, then those that have more of them. */
const byFit = (a: string, b: string): number =>
  Number(a.startsWith('{')) - Number(b.startsWith('{')) || ownLength(b) - ownLength(a);

const ownLength = (template: string): number => template.replace(/\{\d\}/g, '').length;

/** Whether each bracket that opens in it closes in it, and the other way round. */
function isClosed(value: string): boolean {
  let depth = 0;
  for (const character of value) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

function partsOf(text: string, separator: string): string[] {
  const parts: string[] = [];
  for (const piece of text.split(separator)) {
    const last = parts.at(-1);
    if (last === undefined || isClosed(last)) parts.push(piece);
    else parts[parts.length - 1] = last + separator + piece;
  }
  return parts;
}

/** Whether a whole sentence may stand at a place: behind a colon or a full stop, and before what is said of more. */
const holdsSentence = (pieces: readonly string[], at: number): boolean =>
  /[:.] $/.test(pieces[at]!) || pieces[at + 1]!.startsWith(' (and ');

/** The values at the places of a template; undefined when the text was not made from it. */
function valuesIn(text: string, pieces: readonly string[]): string[] | undefined {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first ? [] : undefined;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const end = text.length - last.length;
  const values: string[] = [];
  let from = first.length;
  for (const piece of rest) {
    const at = text.indexOf(piece, from);
    if (at < 0 || at > end) return undefined;
    values.push(text.slice(from, at));
    from = at + piece.length;
  }
  if (from > end) return undefined;
  values.push(text.slice(from, end));
  const fits = values.every(
    (value, at) =>
      value !== '' && isClosed(value) && (!value.includes(comma) || holdsSentence(pieces, at)),
  );
  return fits ? values : undefined;
}

/** Templates of verdicts, reasons and the line on the load; a test makes all of them and finds each here. */
const otherTexts: readonly string[] = [
  'repeated {0} times',
  '{0} held, {1} did not: {2} ({3} steps, {4}, generator healthy)',
  '{0} held, {1} did not: {2} ({3} steps, {4}, generator disturbed in some steps)',
  '{0} held, {1} did not ({2} steps, {3}, generator healthy)',
  '{0} held, {1} did not ({2} steps, {3}, generator disturbed in some steps)',
  '{0} held, the most that the pauses of its sessions allow ({1} steps, {2}, generator healthy)',
  '{0} held, the most that the pauses of its sessions allow ({1} steps, {2}, generator disturbed in some steps)',
  'search for senders to find more',
  'only {0} of {1} messages a second were sent: senders were busy with a session, or not connected',
  '{0} held, the highest value of the search ({1} steps, {2}, generator healthy)',
  '{0} held, the highest value of the search ({1} steps, {2}, generator disturbed in some steps)',
  'the limit was not reached ({0} steps, {1}, generator healthy)',
  'the limit was not reached ({0} steps, {1}, generator disturbed in some steps)',
  '{0} did not hold, the lowest value of the search: {1} ({2} steps, {3}, generator healthy)',
  '{0} did not hold, the lowest value of the search: {1} ({2} steps, {3}, generator disturbed in some steps)',
  '{0} did not hold: {1} ({2} steps, {3}, generator healthy)',
  '{0} did not hold: {1} ({2} steps, {3}, generator disturbed in some steps)',
  '{0} did not hold, the lowest value of the search ({1} steps, {2}, generator healthy)',
  '{0} did not hold, the lowest value of the search ({1} steps, {2}, generator disturbed in some steps)',
  '{0} did not hold ({1} steps, {2}, generator healthy)',
  '{0} did not hold ({1} steps, {2}, generator disturbed in some steps)',
  '{0} held, {1} did not',
  'the limit was not reached',
  '{0} did not hold',
  'no step passed or failed',
  'no step passed or failed ({0} steps, {1}, generator healthy)',
  'no step passed or failed ({0} steps, {1}, generator disturbed in some steps)',
  'time ran out',
  'time ran out: {0}',
  'the target was lost',
  'the target was lost: {0}',
  'the search was stopped',
  'the search was stopped: {0}',
  'at least {0}',
  'between {0} and {1}',
  'not narrowed to {0}',
  '{0} did not hold: {1}',
  'no step passed or failed: {0}',
  'not narrowed to {0}: {1}',
  'the limit was not reached: {0}',
  'step {0} was disturbed on this machine',
  'this machine cannot offer more',
  'this machine cannot offer more: {0}',
  'this machine cannot offer the lowest value of the search',
  'this machine cannot offer the lowest value of the search: {0}',
  '{0} sender',
  '{0} senders',
  '{0} byte',
  '{0} msg/s',
  '{0} bytes',
  'capacity search: {0} from {1} to {2}',
  'deliveries fell behind by {0} of the time',
  '{0} {1}, limit {2}',
  '{0} lost, limit {1}',
  'the objective {0} was missed',
  'deliveries fall behind: latency grew by {0} each second, so no limit would be kept for long',
  'the step was too short to say whether deliveries fall behind',
  'agents have not reported in time who was to get {0} messages',
  'No value held.',
  'passed',
  'failed',
  'invalid',
  'incomplete',
  'invalid, the generator was the bottleneck',
  '{0} (and {1} more)',
  'step {0} was not run',
  'steps {0} and {1} were not run',
  'steps {0} to {1} were not run',
  'step {0}: {1}',
  'objective “{0}”: {1}',
  'it ended the step after {0}',
  'slowest was step {0}: {1}',
  '{0} of {1} deliveries arrived',
  '{0} inside single agents',
  '{0} within {1}',
  '{0} within {1} (limit {2})',
  '{0} % of {1} deliveries',
  '{0} % of {1} delivery',
  'all {0} deliveries',
  'the only delivery',
  'none lost',
  '{0} of {1} sessions broke off',
  '{0} of {1} messages were due at senders, or for clients, that were not connected',
  '{0} lost',
  '{0} in all steps',
  'nothing sent',
  '{0} messages sent and no answer expected',
  '{0} of {1} connections held for {2}',
  '{0} of {1} connections open after {2}',
  '{0} of {1} connections opened',
  'none dropped',
  '{0} dropped',
  'none dropped otherwise',
  '{0} dropped otherwise',
  '{0} closed by us',
  'the hub refused messages of {0} of {1} senders, and later messages ask for no answer, so more may have been refused',
  'A message of {0} is {1} bytes with its envelope, and {2} takes at most {3} ({4}) {5}. Send less at a time.',
  'A message of {0} is {1} bytes with its envelope, and {2} takes at most {3} ({4}) {5}. Send less at a time, or take {6}.',
  'in a frame of a client',
  'in a request of a client without WebSockets',
  'in the body of a REST call',
  'the one sender sent nothing, so nothing was measured',
  '{0} senders sent nothing, so nothing was measured',
  allOfEntryText,
  '{0} sessions broke off, and none was completed',
  'the generator sent only {0} of {1} messages that were due ({2})',
  'a worker of the generator used {0} of a core',
  'take more workers or another machine, or send less',
  'calls waited for a free socket of their worker, which used {0} of a core',
  'take more workers, or a machine nearer to the service',
  'the load generator did not run for {0}: its process was suspended, or the machine slept',
  'something else took the processor, or the machine slept: the busiest worker used only {0} of a core, and messages left or were read late',
  'close other programs on this machine, or run the load from another one',
  'the run was stopped before its plan was done',
  'the run was interrupted before its plan was done',
  'the target was lost during the run',
  'a worker of the load generator was lost during the run',
  'no step was completed, so there is nothing to judge',
  'A part of the load was missing: {0}',
  'A part of the load was missing: {0}, and {1} more',
  'agent {0} of {1} ({2}) was lost: {3}',
  'agent {0} of {1} ({2}) left: {3}',
  'it was silent for {0} s',
  'it got {0}',
  'the hub has no method {0}',
  "the hub's method {0} takes other arguments than it is given",
  "the hub's method {0} is there but throws an exception",
  '{0} ({1} calls answered so)',
  'All {0} connections were lost. {1}',
  ...[unreached, distrusted, silentTarget],
  ...Object.values(unreachedTexts),
  'Measured in step {0} with {1} connections: {2}.',
  '{0} msg/s in and {1} msg/s out of {2}',
  '{0} msg/s in and {1} msg/s out ({2} expected and {3} extra) of {4}',
  'Measured in step {0} with {1} connections: no traffic.',
  '{0} of {1} deliveries did not arrive',
  'they count all the same, as the service must carry them.',
  '{0} of {1} connections failed or were dropped',
  'they count all the same, with the rates that the scenario plans.',
  'Extra deliveries came twice, or went to connections that were joining or leaving, or that should not have got them. A service sends them too.',
  '{0} joins and leaves a second, and as many answers, are not counted: no table has them.',
  'Step {0} carried its load, but whether it kept its limits is open.',
  'The run ended in step {0}, which is incomplete and may need more.',
  '{0} msg/s in and {1} msg/s out (as planned; measured: {2} expected) of {3}',
  '{0} msg/s in and {1} msg/s out (as planned; measured: {2} expected and {3} extra) of {4}',
  'Compared at {0} with {1}, edition {2}, line {3}.',
  '{0} app servers with {1} server connections each.',
  'groups of {0}',
  '{0} items of {1}',
  '{0} call',
  '{0} calls',
  '{0} each second',
  '{0} every {1}',
  '{0} (mean {1})',
  '{0} more',
  '{0} connection',
  '{0} connections',
  '{0} connection in {1} steps',
  '{0} connections in {1} steps',
  '{0} connections in {1} stages of up to {2} senders',
  '{0} connections in {1} stage of up to {2} senders',
  '; ',
  ' + ',
  ', ',
];

/** With those of the objectives, and of clocks. */
export const sentenceTemplates = (): readonly string[] => [
  ...otherTexts,
  agentText,
  distrustText,
  latenessText,
  unreadText,
  latenessTexts['lateness.part'],
  ...Object.values(clockTexts),
  ...findingTemplates,
  ...new Set(objectives().flatMap(([, { texts }]) => texts)),
];
