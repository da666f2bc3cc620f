/** Shape of a worker's fact in full depth: anybody with the key of the bus may have written it. */
import { connectPhases } from '../base/endpoint';
import { errorClasses } from '../base/errorClass';
import {
  LifeCounts,
  MembershipCounts,
  MessageCounts,
  noConnections,
  SessionCounts,
  TargetCounts,
} from '../measure/sample';
import { LatencyHistogram } from '../measure/histogram';
import type { FromWorker } from '../messages/worker';

export type Fits = (value: unknown) => boolean;
type Fields = Readonly<Record<string, unknown>>;

export const mostText = 2000;

export const isContent: Fits = (value) => typeof value === 'string';
export const textUpTo =
  (length: number): Fits =>
  (value) =>
    typeof value === 'string' && value.length <= length;
export const isText = textUpTo(mostText);
export const isFlag: Fits = (value) => typeof value === 'boolean';
const isNumber: Fits = (value) => Number.isFinite(value);
export const isCount: Fits = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const isAmount: Fits = (value) => isNumber(value) && (value as number) >= 0;
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const exactly =
  (wanted: unknown): Fits =>
  (value) =>
    value === wanted;
export const optional =
  (fits: Fits): Fits =>
  (value) =>
    value === undefined || fits(value);
export const eitherOf =
  (...all: readonly Fits[]): Fits =>
  (value) =>
    all.some((fits) => fits(value));
export const list =
  (fits: Fits): Fits =>
  (value) =>
    Array.isArray(value) && value.every(fits);
export const object = (shape: Readonly<Record<string, Fits>>): Fits => {
  const all = Object.entries(shape);
  return (value) =>
    isObject(value) &&
    all.every(([name, fits]) => fits(Object.hasOwn(value, name) ? value[name] : undefined));
};
export const allOf = (names: readonly string[], fits: Fits): Readonly<Record<string, Fits>> =>
  Object.fromEntries(names.map((name) => [name, fits]));
export const record =
  (isName: (name: string) => boolean, fits: Fits): Fits =>
  (value) =>
    isObject(value) && Object.entries(value).every(([name, part]) => isName(name) && fits(part));
/** One of several shapes, by its `type`. */
export const oneOf =
  (shapes: Readonly<Record<string, Fits>>): Fits =>
  (value) => {
    const type = isObject(value) ? value['type'] : undefined;
    return typeof type === 'string' && Object.hasOwn(shapes, type) && shapes[type]!(value);
  };

const isChange: Fits = (value) => Number.isSafeInteger(value);
const isBytes: Fits = (value) => Number.isNaN(value) || isAmount(value);
const isChangeOfBytes: Fits = (value) => Number.isNaN(value) || isNumber(value);

const isHistogram = optional(
  object({
    pairs: (value) => value instanceof Float64Array,
    ...allOf(['minUs', 'maxUs', 'sumUs'], isAmount),
  }),
);

/** Shape of a counter class: its numbers and histograms. */
function tally(counts: object, others: Readonly<Record<string, Fits>> = {}): typeof others {
  const shape: Record<string, Fits> = {};
  for (const [name, part] of Object.entries(counts))
    if (typeof part === 'number') shape[name] = others[name] ?? isCount;
    else if (part instanceof LatencyHistogram) shape[name] = isHistogram;
  return shape;
}

const bytes = [
  'payloadBytesIn',
  'payloadBytesOut',
  'wireBytesIn',
  'wireBytesOut',
  'wireBytesOutLater',
];
const messages = tally(new MessageCounts(), {
  ...allOf(bytes, isBytes),
  ...allOf(['expected', 'received', 'receivedLater', 'late', 'extra', 'leaving'], isChange),
});
const isErrors = record((name) => Object.hasOwn(errorClasses, name), isCount);

const sessions = {
  calls: optional(
    list(
      object({
        ...{ ...messages, errors: isErrors, errorText: optional(isText) },
        brokenOff: isCount,
        ofCalls: optional(isCount),
      }),
    ),
  ),
  sessions: optional(object(tally(new SessionCounts(), { waiting: isChange }))),
};

const isStep = object({
  ...messages,
  step: isCount,
  errors: isErrors,
  warmupErrors: optional(isErrors),
  slip: isHistogram,
  membership: optional(object(tally(new MembershipCounts()))),
  ...sessions,
  entries: optional(list(object({ ...messages, ...sessions }))),
  ahead: optional(list(isAmount)),
  suspendedUs: optional(isAmount),
  pushed: optional(list(object({ name: isText, messages: isChange, bytes: isChangeOfBytes }))),
  slipMaxUs: optional(isAmount),
  readGapMaxUs: optional(isAmount),
  unread: optional(isCount),
});

const isConnections = object({
  soFar: object(allOf(Object.keys(noConnections), isCount)),
  ...allOf(['connectTimes', 'reconnectTimes'], isHistogram),
  phaseTimes: optional(object(allOf(connectPhases, isHistogram))),
  targets: optional(
    list(object(tally(new TargetCounts(), allOf(['failed', 'received'], isChange)))),
  ),
  life: optional(object(tally(new LifeCounts(), allOf(['lifeUs', 'downUs'], isAmount)))),
  droppedOnes: optional(
    list(
      object({
        connection: isCount,
        ...allOf(['atS', 'openS'], isNumber),
        ...allOf(['errorClass', 'text'], isText),
      }),
    ),
  ),
});

const isSample = object({
  ...allOf(['worker', 'tick'], isCount),
  atUs: isAmount,
  connections: isConnections,
  unsettled: optional(object({ messages: isCount, deliveries: isChange })),
  steps: list(isStep),
  clock: optional(object({ errorUs: isAmount, jumps: isCount })),
  generator: object({
    step: isCount,
    ...allOf(['elapsedUs', 'busyUs', 'gcUs'], isNumber),
    loopDelay: isHistogram,
  }),
  errors: isErrors,
  errorExamples: list(object(allOf(['errorClass', 'text'], isText))),
});

const shapes: { readonly [Type in FromWorker['type']]: Fits } = {
  ready: isObject,
  connected: isObject,
  prepared: isObject,
  moved: object({ upToUs: isAmount, changes: list(isChange) }),
  sampled: object({ sample: isSample, due: isFlag, flush: optional(isCount) }),
  stepSent: object({ index: isCount, atUs: isAmount }),
  closed: isObject,
};

export const isWorkerFact: Fits = oneOf(shapes);
