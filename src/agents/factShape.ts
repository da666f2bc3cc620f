/** What a fact of a worker looks like, as deep as it is read: it may come from whoever has the key of the bus. */
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
import {
  allOf,
  fields,
  type Fits,
  isAmount,
  isCount,
  isFlag,
  isNumber,
  isObject,
  isText,
  list,
  oneOf,
  optional,
  record,
} from './shape';

/** What is taken back later is less than none in that sample. */
const isChange: Fits = (value) => Number.isSafeInteger(value);
/** NaN: nobody can see them. */
const isBytes: Fits = (value) => Number.isNaN(value) || isAmount(value);
const isChangeOfBytes: Fits = (value) => Number.isNaN(value) || isNumber(value);

const isHistogram = optional(
  fields({
    pairs: (value) => value instanceof Float64Array,
    ...allOf(['minUs', 'maxUs', 'sumUs'], isAmount),
  }),
);

/** Each count of a class that counts, and each histogram where it has a value. */
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

/** What an entry with sessions has besides. */
const sessions = {
  calls: optional(
    list(
      fields({
        ...{ ...messages, errors: isErrors, errorText: optional(isText) },
        brokenOff: isCount,
        ofCalls: optional(isCount),
      }),
    ),
  ),
  sessions: optional(fields(tally(new SessionCounts(), { waiting: isChange }))),
};

const isStep = fields({
  ...messages,
  step: isCount,
  errors: isErrors,
  warmupErrors: optional(isErrors),
  slip: isHistogram,
  membership: optional(fields(tally(new MembershipCounts()))),
  ...sessions,
  entries: optional(list(fields({ ...messages, ...sessions }))),
  ahead: optional(list(isAmount)),
  suspendedUs: optional(isAmount),
  pushed: optional(list(fields({ name: isText, messages: isChange, bytes: isChangeOfBytes }))),
  slipMaxUs: optional(isAmount),
  readGapMaxUs: optional(isAmount),
  unread: optional(isCount),
});

const isConnections = fields({
  soFar: fields(allOf(Object.keys(noConnections), isCount)),
  ...allOf(['connectTimes', 'reconnectTimes'], isHistogram),
  phaseTimes: optional(fields(allOf(connectPhases, isHistogram))),
  targets: optional(
    list(fields(tally(new TargetCounts(), allOf(['failed', 'received'], isChange)))),
  ),
  life: optional(fields(tally(new LifeCounts(), allOf(['lifeUs', 'downUs'], isAmount)))),
  droppedOnes: optional(
    list(
      fields({
        connection: isCount,
        ...allOf(['atS', 'openS'], isNumber),
        ...allOf(['errorClass', 'text'], isText),
      }),
    ),
  ),
});

const isSample = fields({
  ...allOf(['worker', 'tick'], isCount),
  atUs: isAmount,
  connections: isConnections,
  unsettled: optional(fields({ messages: isCount, deliveries: isChange })),
  steps: list(isStep),
  clock: optional(fields({ errorUs: isAmount, jumps: isCount })),
  generator: fields({
    step: isCount,
    ...allOf(['elapsedUs', 'busyUs', 'gcUs'], isNumber),
    loopDelay: isHistogram,
  }),
  errors: isErrors,
  errorExamples: list(fields(allOf(['errorClass', 'text'], isText))),
});

const shapes: { readonly [Type in FromWorker['type']]: Fits } = {
  ready: isObject,
  connected: isObject,
  prepared: isObject,
  moved: fields({ upToUs: isAmount, changes: list(isChange) }),
  sampled: fields({ sample: isSample, due: isFlag, flush: optional(isCount) }),
  stepSent: fields({ index: isCount, atUs: isAmount }),
  closed: isObject,
};

export const isWorkerFact: Fits = oneOf(shapes);
