import { payloadOf } from '../../usecases/payloadSizes';
import { hubRunOf } from '../../usecases/useCase';
import { measureProblem } from './measureProblem';
import { entryPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { ReadEntry } from '../read/readEntries';
import type { Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';

/** Reports what the dialect measure has no room for, where the file asks for that dialect. */
export function checkDialect(
  reading: Reading,
  sources: Sources,
  read: ReadEntry,
  { dialect }: Scenario,
): void {
  if (dialect !== 'measure' || !read.named) return;
  const { name, parameters } = read.entry;
  const problem = measureProblem({
    name,
    run: hubRunOf(read.useCase, parameters),
    payload: { sizes: payloadOf(parameters).sizes, content: parameters['payload'] },
  });
  if (problem === undefined) return;
  const { message } = problem;
  const severalSizes = problem.parameter === 'messageSize' && 'messageSizes' in parameters;
  const parameter = severalSizes ? 'messageSizes' : problem.parameter;
  const place =
    parameter === undefined ? undefined : writtenPlace(reading, read.parameters, parameter);
  reading.report('error', 'dialect', place ?? entryPlace(reading, sources, read), message);
}
