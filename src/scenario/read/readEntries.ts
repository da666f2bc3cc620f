import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { parseShare, sharePattern } from '../../base/units';
import type { Parameters, ParameterSpec } from '../../usecases/parameters';
import { parsePayloadSizes } from '../../usecases/payloadSizes';
import { findUseCase, useCases } from '../../usecases/registry';
import type { UseCase } from '../../usecases/useCase';
import {
  allParameters,
  entryKeys,
  maximumEntries,
  scenarioKeys,
  sendersKey,
} from '../keys/scenarioKeys';
import type { ScenarioEntry, SenderShare } from '../scenario';
import type { Place, Reading } from '../text/scenarioReading';
import { didYouMean, joinWords, didYouMeanText, safeExcerpt } from '../text/words';
import { withArguments } from './readArguments';
import { withSteps } from './readSteps';
import { readSection, reportUnknownKey, sectionOf, type Section } from './readSection';
import { isEmptyNode, readValue, scalarText, type Written } from './readValue';

export interface ReadEntry {
  readonly useCase: UseCase;
  /** False: the name is unknown, and `useCase` stands in for it. */
  readonly isKnown: boolean;
  readonly entry: ScenarioEntry;
  readonly section: Section;
  readonly parameters: Section;
  /** Place of the first written parameter; else of the name or the entry. */
  readonly at: (...parameters: readonly string[]) => Place;
}

export function startOf(reading: Reading, { written }: Section): Place {
  const key = (written.get('config') ?? [...written.values()][0])?.key;
  return key === undefined ? { offset: 0, length: 0 } : reading.placeOf(key);
}

/** Of `scenario` or `scenarios`; without both one echo. */
export function readEntries(reading: Reading, top: Section): ReadEntry[] {
  const { error } = reading;
  const single = top.written.get('scenario');
  const several = top.written.get('scenarios');
  const list = reading.resolve(several?.value);
  const mix = isSeq(list) ? (list.items as Node[]) : [];
  if (!isSeq(list) && !isEmptyNode(list)) {
    const message = 'scenarios must be a list: each use case begins with "- name: …".';
    error('wrong-type', several?.place, message);
  } else if (mix.length === 0) {
    const message = 'scenarios is empty. Write an entry for each use case, such as "- name: echo".';
    error('empty-value', several?.key, message);
  } else if (single !== undefined) {
    const message =
      'scenario and scenarios are both given. Keep one: scenario for one use case, scenarios for a mix.';
    error('both-scenarios', several?.key, message);
  }
  if (single !== undefined || mix.length === 0) {
    const section = readSection(reading, 'scenario', scenarioKeys, single);
    const place = single ? reading.placeOf(single.key) : startOf(reading, top);
    return [readEntry(reading, section, place)];
  }
  if (mix.length > maximumEntries) {
    const message = `A mix has at most ${maximumEntries} use cases; the others are not read.`;
    error('above-bounds', several?.key, message);
  }
  return mix.slice(0, maximumEntries).map((item, index) => {
    const node = reading.resolve(item);
    const map = isMap(node) ? node : undefined;
    if (!map) error('wrong-type', item, 'Each entry of scenarios is a map with a name.');
    const section = sectionOf(reading, `scenarios.${index}`, entryKeys, map);
    if (map && !section.written.has('name'))
      error('missing-name', item, 'This entry of scenarios has no name.');
    return readEntry(reading, section, reading.placeOf(item));
  });
}

function readEntry(reading: Reading, section: Section, place: Place): ReadEntry {
  const { useCase, isKnown } = readUseCase(reading, section.written.get('name'));
  const path = `${section.path}.parameters`;
  const holder = section.written.get('parameters');
  const parameters = readSection(reading, path, useCase.parameters, holder, (key, name) =>
    reportParameter(reading, isKnown ? useCase : undefined, { key, name, path }),
  );
  const written = section.written.get('senders');
  const senders = written && readSenders(reading, written);
  const plain = Object.fromEntries(parameters.values) as Parameters;
  checkPayload(reading, parameters, plain);
  const has = (type: ParameterSpec['type']): boolean =>
    useCase.parameters.some((spec) => spec.type === type);
  const values = has('list')
    ? withArguments(reading, parameters, plain)
    : has('steps')
      ? withSteps(reading, parameters, plain)
      : plain;
  return {
    useCase,
    isKnown,
    section,
    parameters,
    entry: { name: useCase.name, parameters: values, ...(senders && { senders }) },
    at: (...names) => parameters.at(...names) ?? section.at('name') ?? place,
  };
}

function readUseCase({ resolve, error, warning }: Reading, written: Written | undefined) {
  const standIn = useCases[0]!;
  if (written === undefined) return { useCase: standIn, isKnown: true };
  const { place } = written;
  const node = resolve(written.value);
  const names = useCases.map((known) => known.name);
  if (!isScalar(node) || node.value === null) {
    const code = isEmptyNode(node) ? 'empty-value' : 'wrong-type';
    error(code, place, `name must be one of ${joinWords(names, 'or')}.`);
    return { useCase: standIn, isKnown: false };
  }
  const word = scalarText(node);
  const useCase = findUseCase(word);
  if (useCase !== undefined) {
    const known = [useCase.name, ...useCase.aliases];
    const right = known.find((text) => text.toLowerCase() === word.toLowerCase())!;
    if (!known.includes(word))
      warning('letter-case', place, `This use case is written ${right}.`, right);
    return { useCase, isKnown: true };
  }
  const meant = didYouMean(word, [...names, ...useCases.flatMap((known) => known.aliases)]);
  const message = `There is no use case "${safeExcerpt(word)}".${didYouMeanText(meant)} Known are ${names.join(', ')}.`;
  error('unknown-use-case', place, message, meant);
  return { useCase: findUseCase(meant ?? '') ?? standIn, isKnown: false };
}

type Unknown = Readonly<{ key: Scalar; name: string; path: string }>;

function reportParameter(reading: Reading, useCase: UseCase | undefined, unknown: Unknown): void {
  const { key, name } = unknown;
  const owner = allParameters.get(name);
  if (owner === undefined) {
    const specs = useCase?.parameters ?? [...allParameters.values()].map((known) => known.spec);
    reportUnknownKey(reading, { ...unknown, specs });
  } else if (useCase !== undefined) {
    const owners = owner.useCases.slice(0, 4).join(', ');
    const message = `${name} means nothing for ${useCase.name}; it belongs to ${owners}. Remove it, or correct the name.`;
    reading.warning('other-use-case', key, message);
  }
}

function readSenders(reading: Reading, written: Written): SenderShare | undefined {
  const node = reading.resolve(written.value);
  const text = isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
  if (text !== undefined && new RegExp(sharePattern).test(text.slice(0, 100).trim())) {
    const share = parseShare(text)!;
    if (share > 0 && share <= 1) return { kind: 'share', share };
    const message = 'The share of senders must be more than 0 % and at most 100 %.';
    reading.error(share > 1 ? 'above-bounds' : 'below-bounds', written.place, message);
    return undefined;
  }
  if (text !== undefined && !/^[0-9]+$/.test(text)) {
    const message = 'senders must be a whole number, or a share of the step such as 30%.';
    reading.error('wrong-type', written.place, message);
    return undefined;
  }
  const value = readValue(reading, { ...sendersKey, type: 'count' }, written);
  return typeof value === 'number' ? { kind: 'count', count: value } : undefined;
}

function checkPayload(
  { error, warning }: Reading,
  { at }: Section,
  { messageSizes, payload, payloadFile }: Parameters,
): void {
  // The content of a file may go as bytes too.
  if (payload !== undefined && payload !== 'binary' && payloadFile !== undefined) {
    const message = 'payload and payloadFile are both given; the file counts. Remove one of them.';
    warning('two-payloads', at('payload'), message);
  }
  if (typeof messageSizes !== 'string') return;
  const read = parsePayloadSizes(messageSizes);
  if ('problem' in read) {
    error('message-sizes', at('messageSizes'), read.problem);
    return;
  }
  const message = 'messageSize and messageSizes are both given; messageSizes counts. Remove one.';
  warning('two-payloads', at('messageSize'), message);
}
