import { bandwidthWords, counted, figure } from '../../capacity/wording';
import { entryTraffic } from '../../capacity/entryTraffic';
import { stepsOf } from '../../scenario/steps';
import type { Analysis } from './analyseScenario';
import { wordsOfTable } from './estimateMarkdown';
import { entryNodes } from './keysBelow';
import { childOf, type OutlineNode } from './outlineNode';

/** A few words behind a value. */
export interface InlayText {
  /** Behind the value. */
  readonly offset: number;
  readonly label: string;
}

/**
 * What values of the parameters come to in the last step: the rate behind `sendingInterval`, members
 * behind `groupCount`, bandwidth behind `messageSize`. Empty while the text has errors.
 */
export function inlayHints({ outline, scenario, estimate }: Analysis): InlayText[] {
  if (scenario === undefined || estimate === undefined) return [];
  const last = stepsOf(scenario).at(-1);
  const traffic = last === undefined ? undefined : entryTraffic(scenario, last);
  if (traffic === undefined || 'problem' in traffic) return [];
  const entries = entryNodes(outline.root);
  return traffic.sending.flatMap(({ entry, traffic: { groupMembers } }, position) => {
    const node = entries[scenario.entries.indexOf(entry)];
    const load = estimate.loads[position];
    const parameters = node === undefined ? undefined : childOf(node, 'parameters');
    if (parameters === undefined || load === undefined) return [];
    const rates = `${figure(load.in_messages_per_s)} msg/s in, ${figure(load.out_messages_per_s)} msg/s out`;
    const members =
      groupMembers === undefined
        ? undefined
        : `${counted(groupMembers, 'member')}: ${wordsOfTable(load.table)}`;
    return [
      ...behind(parameters, 'messageSize', `${bandwidthWords(load.out_bytes_per_s)} out`),
      ...behind(parameters, 'sendingInterval', rates),
      ...(members === undefined ? [] : behind(parameters, 'groupCount', members)),
    ];
  });
}

function behind(parameters: OutlineNode, name: string, label: string): InlayText[] {
  const node = childOf(parameters, name);
  if (node === undefined || node.valueLength === 0) return [];
  return [{ offset: node.valueOffset + node.valueLength, label }];
}
