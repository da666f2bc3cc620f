import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { MadeRecording } from './madeRecording';
interface File {
  readonly config: Readonly<Record<string, unknown>>;
  readonly scenario?: { readonly name: string; readonly parameters: Session };
  readonly scenarios?: readonly { readonly senders?: string; readonly parameters: Session }[];
}
export interface Session {
  readonly sessionInterval: string;
  readonly groupCount?: number;
  readonly sharedGroups?: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
}

/** The scenario of a recording, which has no errors. */
export async function analysed({ recording }: MadeRecording) {
  const { yaml, found } = await scenarioFromRecording(recording);
  assert.ok(yaml !== undefined, JSON.stringify(found));
  const errors = parseScenario(yaml).problems.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, [], yaml);
  const file = parse(yaml) as File;
  return { yaml, found, file, steps: (file.scenario ?? file.scenarios![0]!).parameters.steps };
}
