import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { parseShare, sharePattern } from '../../base/units';
import type { Parameters } from '../../usecases/parameters';
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
import type { Severity } from '../problem';
import type { ScenarioEntry, SenderShare } from '../scenario';
import { writing, type Reading } from '../text/scenarioReading';
import { didYouMean, listed, quotable } from '../text/words';
import { isBelow, withArguments } from './readArguments';
import {
  readSection,
  reportUnknownKey,
  sectionOf,
  isNothing,
  placeOfValue,
  readValue,
  sourceOf,
  type Section,
  type UnknownKey,
  type Written,
} from './readSection';

/** An entry as read, with the parts of the file it came from. */
export interface ReadEntry {
  readonly useCase: UseCase;
  /** Whether the file names a use case we know; else `useCase` stands in for it. */
  readonly named: boolean;
  readonly entry: ScenarioEntry;
  readonly section: Section;
  readonly parameters: Section;
  /** Key of the entry's place: `scenario`, or the entry in `scenarios`. Absent when nothing is written. */
  readonly node?: Node;
}

/** Reads `scenario` or `scenarios`; without both it is one echo. Never empty. */
export function readEntries(reading: Reading, top: Section): ReadEntry[] {
  const single = top.written.get('scenario');
  const several = top.written.get('scenarios');
  const list = several === undefined ? undefined : reading.follow(several.value);
  const mix = isSeq(list) ? (list.items as Node[]) : [];
  if (several !== undefined && !isSeq(list) && !isNothing(list)) {
    const message = 'scenarios must be a list: each use case begins with "- name: …".';
    reading.report('error', 'wrong-type', placeOfValue(reading, several), message);
  }
  if (single !== undefined && mix.length > 0) {
    const message =
      'scenario and scenarios are both given. Keep one: scenario for one use case, scenarios for a mix.';
    reading.report('error', 'both-scenarios', several!.key, message);
  }
  if (several !== undefined && mix.length === 0 && (isSeq(list) || isNothing(list))) {
    const message = 'scenarios is empty. Write an entry for each use case, such as "- name: echo".';
    reading.report('error', 'empty-value', several.key, message);
  }
  if (single !== undefined || mix.length === 0) {
    const section = readSection(reading, 'scenario', scenarioKeys, single);
    return [readEntry(reading, section, single?.key)];
  }
  if (mix.length > maximumEntries) {
    const message = `A mix has at most ${maximumEntries} use cases; the others are not read.`;
    reading.report('error', 'above-bounds', several!.key, message);
  }
  return mix.slice(0, maximumEntries).map((item, index) => {
    const path = `scenarios.${index}`;
    const node = reading.follow(item);
    if (!isMap(node)) {
      reading.report('error', 'wrong-type', item, 'Each entry of scenarios is a map with a name.');
    }
    const section = sectionOf(reading, path, entryKeys, isMap(node) ? node : undefined);
    if (isMap(node) && !section.written.has('name')) {
      reading.report('error', 'missing-name', item, 'This entry of scenarios has no name.');
    }
    return readEntry(reading, section, item);
  });
}

function readEntry(reading: Reading, section: Section, node: Node | undefined): ReadEntry {
  const name = section.written.get('name');
  const { useCase, named } = readUseCase(reading, name);
  const path = `${section.path}.parameters`;
  const holder = section.written.get('parameters');
  const parameters = readSection(reading, path, useCase.parameters, holder, (key, word) =>
    reportParameter(reading, { useCase, named }, { key, name: word, path }),
  );
  const written = section.written.get('senders');
  const senders = written && readSenders(reading, written);
  const plain = Object.fromEntries(parameters.values);
  checkPayload(reading, parameters, plain);
  const hasArguments = useCase.parameters.some(({ type }) => type === 'list');
  const values = hasArguments ? withArguments(reading, parameters, plain) : plain;
  return {
    ...{ useCase, named, section, parameters },
    entry: { name: useCase.name, parameters: values, ...(senders && { senders }) },
    ...(node && { node }),
  };
}

type NamedUseCase = Pick<ReadEntry, 'useCase' | 'named'>;

function readUseCase(reading: Reading, written: Written | undefined): NamedUseCase {
  const standIn = useCases[0]!;
  if (written === undefined) return { useCase: standIn, named: true };
  const node = reading.follow(written.value);
  const place = placeOfValue(reading, written);
  const names = useCases.map((known) => known.name);
  if (!isScalar(node) || node.value === null) {
    const message = `name must be one of ${listed(names, 'or')}.`;
    reading.report('error', isNothing(node) ? 'empty-value' : 'wrong-type', place, message);
    return { useCase: standIn, named: false };
  }
  const word = sourceOf(node);
  const useCase = findUseCase(word);
  if (useCase !== undefined) {
    const known = [useCase.name, ...useCase.aliases];
    if (!known.includes(word)) {
      const right = known.find((text) => text.toLowerCase() === word.toLowerCase())!;
      const message = `This use case is written ${right}.`;
      reading.report('warning', 'letter-case', place, message, writing(right));
    }
    return { useCase, named: true };
  }
  const meant = didYouMean(word, [...names, ...useCases.flatMap((known) => known.aliases)]);
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const message = `There is no use case "${quotable(word)}".${question} Known are ${names.join(', ')}.`;
  const fix = writing(meant);
  reading.report('error', 'unknown-use-case', place, message, fix);
  return { useCase: findUseCase(meant ?? '') ?? standIn, named: false };
}

function reportParameter(
  reading: Reading,
  { useCase, named }: NamedUseCase,
  { key, name, path }: Pick<UnknownKey, 'key' | 'name' | 'path'>,
): void {
  const owner = allParameters.get(name);
  if (owner === undefined) {
    const specs = [...allParameters.values()].map((known) => known.spec);
    reportUnknownKey(reading, { key, name, path, specs: named ? useCase.parameters : specs });
    return;
  }
  if (!named) return;
  const owners = owner.useCases.slice(0, 4).join(', ');
  const message = `${name} means nothing for ${useCase.name}; it belongs to ${owners}. Remove it, or correct the name.`;
  reading.report('warning', 'other-use-case', key, message);
}

/** Reads `senders` of a mix: a whole number, or a share such as `30%`. Undefined for a bad value. */
function readSenders(reading: Reading, written: Written): SenderShare | undefined {
  const node = reading.follow(written.value);
  const place = placeOfValue(reading, written);
  const text = isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
  if (text === undefined || !new RegExp(sharePattern).test(text.slice(0, 100).trim())) {
    if (text !== undefined && !/^[0-9]+$/.test(text)) {
      const message = 'senders must be a whole number, or a share of the step such as 30%.';
      reading.report('error', 'wrong-type', place, message);
      return undefined;
    }
    const value = readValue(reading, { ...sendersKey, type: 'count' }, written);
    return typeof value === 'number' ? { kind: 'count', count: value } : undefined;
  }
  const share = parseShare(text)!;
  if (share > 0 && share <= 1) return { kind: 'share', share };
  const message = 'The share of senders must be more than 0 % and at most 100 %.';
  reading.report('error', share > 1 ? 'above-bounds' : 'below-bounds', place, message);
  return undefined;
}

/** Reports sizes that cannot be read, and keys of payloads that exclude each other. */
function checkPayload(reading: Reading, { written }: Section, parameters: Parameters): void {
  const { messageSizes, payload, payloadFile } = parameters;
  const report = (severity: Severity, code: string, name: string, message: string): void =>
    reading.report(severity, code, placeOfValue(reading, written.get(name)!), message);
  // Of a file, too, the content may go as bytes.
  if (payload !== undefined && payload !== 'binary' && payloadFile !== undefined) {
    const message = 'payload and payloadFile are both given; the file counts. Remove one of them.';
    report('warning', 'two-payloads', 'payload', message);
  }
  if (typeof payloadFile === 'string' && !isBelow(payloadFile)) {
    const message =
      'payloadFile must lie beside the scenario file or below it: its content is sent to the target.';
    report('error', 'payload-file', 'payloadFile', message);
  }
  if (typeof messageSizes !== 'string') return;
  const read = parsePayloadSizes(messageSizes);
  if ('problem' in read) {
    report('error', 'message-sizes', 'messageSizes', read.problem);
  } else if (written.has('messageSize')) {
    const message = 'messageSize and messageSizes are both given; messageSizes counts. Remove one.';
    report('warning', 'two-payloads', 'messageSize', message);
  }
}
