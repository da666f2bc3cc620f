import type { Parameters } from '../../usecases/parameterSpec';
import { parsePayloadSizes } from '../../usecases/payloadSizes';
import type { Reading } from '../text/scenarioReading';
import type { Section } from './readSection';
import { isBelow } from './isBelow';
import { placeOfValue } from './readValue';

/** Reports sizes that cannot be read, and keys of payloads that exclude each other. */
export function checkPayload(reading: Reading, section: Section, parameters: Parameters): void {
  const { messageSizes, payload, payloadFile } = parameters;
  const written = (name: string) => section.written.get(name);
  // Of a file, too, the content may go as bytes.
  if (payload !== undefined && payload !== 'binary' && payloadFile !== undefined) {
    const message = 'payload and payloadFile are both given; the file counts. Remove one of them.';
    reading.report('warning', 'two-payloads', placeOfValue(reading, written('payload')!), message);
  }
  if (typeof payloadFile === 'string' && !isBelow(payloadFile)) {
    const message =
      'payloadFile must lie beside the scenario file or below it: its content is sent to the target.';
    reading.report(
      'error',
      'payload-file',
      placeOfValue(reading, written('payloadFile')!),
      message,
    );
  }
  if (typeof messageSizes !== 'string') return;
  const place = placeOfValue(reading, written('messageSizes')!);
  const read = parsePayloadSizes(messageSizes);
  if ('problem' in read) {
    reading.report('error', 'message-sizes', place, read.problem);
    return;
  }
  if (written('messageSize') !== undefined) {
    const message = 'messageSize and messageSizes are both given; messageSizes counts. Remove one.';
    reading.report(
      'warning',
      'two-payloads',
      placeOfValue(reading, written('messageSize')!),
      message,
    );
  }
}
