import { errorClasses, totalErrors, type ErrorClass, type ErrorCounts } from '../errorClass';
import { sentence } from '../sentence';
import {
  formatCount,
  shareLimitWords,
  rateWordsBesideLimit,
  shareWordsBesideLimit,
} from '../units';
import type { ConnectionObjective, ObjectiveFamily, StepObjective } from './objective';

const arrived = '{0} of {1} deliveries arrived, below the limit of {2}';

export const delivered: StepObjective = {
  of: 'step',
  unit: 'share',
  default: 0.99,
  summary: 'Share of the expected deliveries that must arrive.',
  unitMistake: { from: 1.01, below: 100.01, unit: '%' },
  limit: 'least',
  value: ({ expected, received }) => received / expected,
  missed: ({ expected }, value, limit) =>
    sentence(
      arrived,
      shareWordsBesideLimit(value ?? 0, limit),
      formatCount(expected),
      shareLimitWords(limit),
    ),
};

const droppedTexts = {
  failed: '{0} of {1} connections failed, {2} dropped ({3}), above the limit of {4}',
  notBack:
    '{0} of {1} connections failed, {2} dropped, {3} did not come back ({4}), above the limit of {5}',
} as const;

/** The default is that of the Azure SignalR benchmark. */
export const dropped: ConnectionObjective = {
  of: 'connections',
  unit: 'share',
  default: 0.01,
  summary: 'Share of the requested connections that may fail to open, drop, or fail to come back.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ requested, failed, dropped: lost, notBack = 0 }) =>
    requested === 0 ? undefined : (failed + lost + notBack) / requested,
  missed: ({ requested, failed, dropped: lost, notBack }, value, limit) => {
    const counts = [failed, requested, lost, ...(notBack ? [notBack] : [])];
    const shares = [shareWordsBesideLimit(value ?? 1, limit), shareLimitWords(limit)];
    const text = notBack ? droppedTexts.notBack : droppedTexts.failed;
    return sentence(text, ...counts.map((count) => formatCount(count)), ...shares);
  },
};

const skippedText =
  '{0} of {1} messages were not sent, as their sender or receiver was not connected ({2}), above the limit of {3}';

export const skipped: StepObjective = {
  of: 'step',
  withoutDeliveries: true,
  unit: 'share',
  follows: 'dropped',
  summary:
    'Share of the messages that may be due at senders that are not connected, and so never leave.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ offered = 0, skipped: count = 0 }) =>
    offered + count === 0 ? undefined : count / (offered + count),
  missed: ({ offered = 0, skipped: count = 0 }, value, limit) => {
    const counts = [count, offered + count].map((each) => formatCount(each));
    return sentence(
      skippedText,
      ...counts,
      shareWordsBesideLimit(value ?? 1, limit),
      shareLimitWords(limit),
    );
  },
};

const duplicatedTexts = {
  one: '{0} duplicate came on top of the {1} expected ({2}), above the limit of {3}',
  many: '{0} duplicates came on top of the {1} expected ({2}), above the limit of {3}',
} as const;

/**
 * Neither SignalR nor a client that recovers hands a message to an application twice. A duplicate can arrive long after
 * its step was judged.
 */
export const duplicated: StepObjective = {
  of: 'step',
  untilEnd: true,
  unit: 'share',
  default: 0,
  summary: 'Duplicates that may come, as a share of the expected deliveries.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ expected, duplicated: count }) => count / expected,
  missed: ({ expected, duplicated: count }, value, limit) => {
    const shares = [shareWordsBesideLimit(value ?? 0, limit), shareLimitWords(limit)];
    const text = count === 1 ? duplicatedTexts.one : duplicatedTexts.many;
    return sentence(text, formatCount(count), formatCount(expected), ...shares);
  },
};

const noSessions = { completed: 0, brokenOff: 0 };

export const sessionsBrokenOff: StepObjective = {
  of: 'step',
  withoutDeliveries: true,
  unit: 'share',
  summary: 'Share of the sessions that came to an end which may break off before their last step.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ sessions: { completed, brokenOff } = noSessions }) =>
    completed + brokenOff === 0 ? undefined : brokenOff / (completed + brokenOff),
  missed: ({ sessions: { completed, brokenOff } = noSessions }, value, limit) =>
    sentence(
      '{0} of {1} sessions broke off ({2}), above the limit of {3}',
      ...[brokenOff, completed + brokenOff].map((count) => formatCount(count)),
      ...[shareWordsBesideLimit(value ?? 1, limit), shareLimitWords(limit)],
    ),
};

export const rate: StepObjective = {
  of: 'step',
  withoutDeliveries: true,
  unit: 'rate',
  summary:
    'Deliveries per second that must be reached, over the measured time of a step; messages sent, where no delivery is expected. Every step is judged: write `step: last` beside the limit where only the last one has senders enough.',
  limit: 'least',
  value: ({ seconds, expected, received, receivedLater = 0, sent = 0 }) =>
    seconds ? (expected > 0 ? received - receivedLater : sent) / seconds : undefined,
  missed: ({ expected }, value, limit) =>
    sentence(
      expected > 0
        ? '{0} deliveries a second arrived, below the limit of {1}'
        : '{0} messages a second were sent, below the limit of {1}',
      rateWordsBesideLimit(value ?? 0, limit),
      formatCount(limit, Number.isInteger(limit) ? 0 : 3),
    ),
};

const errorTexts = {
  one: '{0} error, above the limit of {1}',
  many: '{0} errors, above the limit of {1}',
  oneOfClass: '{0} error of class {1}, above the limit of {2}',
  manyOfClass: '{0} errors of class {1}, above the limit of {2}',
} as const;

const errorObjective = (
  count: (errors: ErrorCounts) => number,
  summary: string,
  missed: StepObjective['missed'],
): StepObjective => ({
  ...{ of: 'step', withoutDeliveries: true, unit: 'count', limit: 'most', summary, missed },
  value: ({ errors: counts }) => counts && count(counts),
});

export const errors = errorObjective(
  totalErrors,
  'Errors of all classes that a step may have, from the begin of its measured time to the end of its drain.',
  (_step, value, limit) =>
    sentence(
      value === 1 ? errorTexts.one : errorTexts.many,
      formatCount(value ?? 0),
      formatCount(limit),
    ),
);

const errorPrefix = 'errors.';

export type ErrorMetric = `errors.${ErrorClass}`;

export const errorsByClass: ObjectiveFamily<ErrorMetric> = {
  pattern: `errors\\.(?:${Object.keys(errorClasses).join('|')})`,
  offered: ['errors.invocation', 'errors.throttled', 'errors.timeout'],
  named(name) {
    const errorClass = name.slice(errorPrefix.length) as ErrorClass;
    if (!name.startsWith(errorPrefix) || !Object.hasOwn(errorClasses, errorClass)) return undefined;
    return errorObjective(
      (counts) => counts[errorClass] ?? 0,
      `Errors of class \`${errorClass}\` that a step may have: ${errorClasses[errorClass]}.`,
      (_step, value, limit) =>
        sentence(
          value === 1 ? errorTexts.oneOfClass : errorTexts.manyOfClass,
          formatCount(value ?? 0),
          errorClass,
          formatCount(limit),
        ),
    );
  },
};
