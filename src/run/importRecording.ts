import { ExpectedError } from '../base/expectedError';
import { plural, formatCount } from '../base/units';
import { scenarioEstimate, type EstimateModel } from '../capacity/estimate';
import type { Estimate } from '../capacity/model';
import type { Findings } from '../record/analyse/findings';
import { scenarioFromRecording } from '../record/analyse/scenarioFromRecording';
import type { Recording } from '../record/recording';
import type { Problem } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import { plannedRate } from '../scenario/steps';
import type { ScenarioParser } from './scenarioFile';

export interface ImportedScenario {
  readonly yaml: string;
  readonly found: Findings;
  readonly problems: readonly Problem[];
  readonly unlike?: string;
  readonly estimate?: Estimate;
  readonly noEstimate?: string;
}

/** @throws ExpectedError `nothing-recognised` for a recording without a call */
export async function importRecording(
  recording: Recording,
  parseScenario: ScenarioParser,
  model?: EstimateModel,
): Promise<ImportedScenario> {
  const { yaml, found } = await scenarioFromRecording(recording);
  if (yaml === undefined) throw nothing(found);
  const { scenario, problems } = parseScenario(yaml);
  if (scenario === undefined) return { yaml, found, problems };
  const unlike = unlikeWords(scenario, found);
  const imported = {
    ...{ yaml: unlike === undefined ? yaml : withWarning(yaml, unlike), found, problems },
    ...(unlike !== undefined && { unlike: `${sentenceOf(unlike)} ${whatToDo}` }),
  };
  const estimated = scenarioEstimate(scenario, {}, model);
  return 'problem' in estimated
    ? { ...imported, noEstimate: estimated.problem }
    : { ...imported, estimate: estimated.estimate };
}

const nearly = 0.05;

/** `600 times the calls` of a recorded client; undefined where alike. */
function unlikeWords(
  scenario: Scenario,
  { calls, clientSeconds, clientsAtOnce }: Findings,
): string | undefined {
  const seen = calls.reduce((sum, { count }) => sum + count, 0);
  const made = (plannedRate(scenario) / scenario.connections) * clientSeconds;
  const times = made / seen;
  // At both ends of a recording a client may have one call more or less.
  const isAlike =
    made >= (1 - nearly) * (seen - clientsAtOnce) && made <= (1 + nearly) * (seen + clientsAtOnce);
  if (!Number.isFinite(times) || isAlike) return undefined;
  return `${formatCount(times, times < 10 ? 2 : 0)} times the calls`;
}

const sentenceOf = (unlike: string): string =>
  `Each client of this scenario makes ${unlike} that were recorded.`;
const whatToDo =
  'Correct its intervals and waits, and leave out config.unlikeRecording; until then a run wants a yes.';

const withWarning = (yaml: string, unlike: string): string =>
  [
    `# ${sentenceOf(unlike)}`,
    `# ${whatToDo}`,
    '#',
    yaml.replace(/^config:\n/m, `config:\n  unlikeRecording: ${unlike}\n`),
  ].join('\n');

function nothing({ clients, messages, notRecognised }: Findings): ExpectedError {
  const seen =
    clients === 0
      ? 'It has no client.'
      : `It has ${plural(clients, 'client')} and ${plural(messages, 'message')}, but no client called a method of the hub.`;
  const [first] = [...notRecognised].sort((a, b) => b.count - a.count);
  const why =
    first === undefined ? '' : ` Not recognised: ${formatCount(first.count)} × ${first.what}.`;
  return new ExpectedError('nothing-recognised', `The recording makes no scenario. ${seen}${why}`);
}
