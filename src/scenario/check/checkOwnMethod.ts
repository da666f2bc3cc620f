import { stampBytes } from '../../base/stampBytes';
import { hubRunOf } from '../../usecases/useCase';
import { ownArguments, placeholdersIn, type Placeholder } from '../../usecases/ownArguments';
import { missingFix } from './checkGroups';
import { checkOwnStream } from './checkOwnStream';
import { entryPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { ReadEntry } from '../read/readEntries';
import type { Reading } from '../text/scenarioReading';

/** Checks a call of the user's own hub method: what its keys need of each other. */
export function checkOwnMethod(reading: Reading, sources: Sources, read: ReadEntry): void {
  const { useCase, entry, parameters } = read;
  const { ownCall: call, streams } = hubRunOf(useCase, entry.parameters);
  if (call === undefined || !read.named) return;
  const placeOf = (...names: readonly string[]) =>
    writtenPlace(reading, parameters, ...names) ?? entryPlace(reading, sources, read);
  const report = (names: readonly string[], code: string, message: string): void =>
    reading.report('error', code, placeOf(...names), message);
  if (!parameters.written.has('method')) {
    const message = `${useCase.name} needs the parameter method: the hub method to call.`;
    const fix = missingFix(reading, read, 'method', useCase.starting?.['method'] ?? '');
    reading.report('error', 'missing-method', placeOf(), message, fix);
  }
  checkOwnStream(reading, read, streams);
  const placeholders = placeholdersIn(ownArguments(call.arguments));
  const inItems = placeholdersIn(ownArguments(streams?.own?.items ?? '[]'));
  const calledBack = call.reply === 'callback';
  if (calledBack && call.callback === undefined) {
    const message =
      'reply: callback needs the parameter callback: the client method that the hub calls.';
    report(['reply'], 'missing-callback', message);
  }
  if (!calledBack) reportUnused(reading, read, call.reply);
  const receivers = calledBack ? entry.parameters['receivers'] : 'self';
  for (const { name, value } of [
    { name: 'receiver', value: 'client' },
    { name: 'group', value: 'group' },
  ]) {
    const used = placeholders.some((placeholder) => placeholder.name === name);
    if (inItems.some((placeholder) => placeholder.name === name)) {
      const message = `Items of a stream have no {${name}}: they go to the method alone. Write a value or another placeholder.`;
      report(['streamingItems'], 'placeholder', message);
    }
    if (used && receivers !== value) {
      const message = `{${name}} needs reply: callback and receivers: ${value}.`;
      report(['arguments'], 'placeholder', message);
    } else if (!used && receivers === value) {
      const message = `receivers: ${value} needs {${name}} in the arguments, so that the hub knows whom to call back.`;
      report(['receivers'], 'missing-placeholder', message);
    }
  }
  if (calledBack) {
    const problem = stampProblem(placeholders);
    if (problem !== undefined) report(['arguments', 'reply'], 'no-stamp', problem);
  }
}

/** Callbacks are recognised by our stamp, with which the first random text begins. */
function stampProblem(placeholders: readonly Placeholder[]): string | undefined {
  const text = placeholders.find(({ name }) => name === 'text');
  if (text?.name !== 'text') {
    return 'Callbacks are recognised by a text that they bring back: put {text:2KB} into the arguments.';
  }
  return text.bytes < stampBytes
    ? `The first {text:…} carries our stamp, by which callbacks are recognised: it must have at least ${stampBytes} bytes.`
    : undefined;
}

function reportUnused(reading: Reading, { parameters }: ReadEntry, reply: string): void {
  for (const name of ['callback', 'receivers']) {
    const place = writtenPlace(reading, parameters, name);
    const value = parameters.values.get(name);
    if (place === undefined || value === 'self') continue;
    const message = `${name} means nothing with reply: ${reply}. Remove it, or write reply: callback.`;
    reading.report('warning', 'other-reply', place, message);
  }
}
