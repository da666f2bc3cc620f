import { ExpectedError } from '../base/expectedError';
import { formatCount } from '../base/units';
import { scenarioEstimate, type EstimateModel } from '../capacity/estimate';
import type { Estimate } from '../capacity/model';
import type { Found } from '../record/analyse/found';
import { scenarioFromRecording } from '../record/analyse/scenarioFromRecording';
import type { Recording } from '../record/recording';
import type { Problem } from '../scenario/problem';
import type { ScenarioParser } from './scenarioFile';

/** What a recording becomes, with what everybody asks of a scenario. */
export interface ImportedScenario {
  readonly yaml: string;
  readonly found: Found;
  readonly problems: readonly Problem[];
  /** Absent with {@link noEstimate}. */
  readonly estimate?: Estimate;
  /** Why there is none. */
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
  const imported = { yaml, found, problems };
  if (scenario === undefined) return imported;
  const estimated = scenarioEstimate(scenario, {}, model);
  return 'problem' in estimated
    ? { ...imported, noEstimate: estimated.problem }
    : { ...imported, estimate: estimated.estimate };
}

function nothing({ clients, messages, notRecognised }: Found): ExpectedError {
  const seen =
    clients === 0
      ? 'It has no client.'
      : `It has ${formatCount(clients)} ${clients === 1 ? 'client' : 'clients'} and ${formatCount(messages)} ${messages === 1 ? 'message' : 'messages'}, but no client called a method of the hub.`;
  const [first] = [...notRecognised].sort((a, b) => b.count - a.count);
  const why =
    first === undefined ? '' : ` Not recognised: ${formatCount(first.count)} × ${first.what}.`;
  return new ExpectedError('nothing-recognised', `The recording makes no scenario. ${seen}${why}`);
}
