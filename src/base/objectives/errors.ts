import { countOf, errorClasses, type ErrorClass, type ErrorCounts } from '../errorClass';
import { formatCount } from '../units';
import type { ObjectiveFamily, StepObjective } from './objective';
import { sentence } from '../sentence';

const texts = {
  one: '{0} error, above the limit of {1}',
  many: '{0} errors, above the limit of {1}',
  oneOfClass: '{0} error of class {1}, above the limit of {2}',
  manyOfClass: '{0} errors of class {1}, above the limit of {2}',
} as const;

const judgedBy = (
  count: (errors: ErrorCounts) => number,
  summary: string,
  missed: StepObjective['missed'],
): StepObjective => ({
  ...{ of: 'step', withoutDeliveries: true, unit: 'count', limit: 'most', summary, missed },
  value: ({ errors }) => errors && count(errors),
});

export const errors = judgedBy(
  countOf,
  'Errors of all classes that a step may have, from the begin of its measured time to the end of its drain.',
  (_step, value, limit) =>
    sentence(value === 1 ? texts.one : texts.many, formatCount(value ?? 0), formatCount(limit)),
);

const prefix = 'errors.';

export type ErrorMetric = `errors.${ErrorClass}`;

/** Those of one class, by the names that results count them by. */
export const errorsOfClass: ObjectiveFamily<ErrorMetric> = {
  pattern: `errors\\.(?:${Object.keys(errorClasses).join('|')})`,
  offered: ['errors.invocation', 'errors.throttled', 'errors.timeout'],
  named(name) {
    const errorClass = name.slice(prefix.length);
    if (!name.startsWith(prefix) || !Object.hasOwn(errorClasses, errorClass)) return undefined;
    const known = errorClass as ErrorClass;
    return judgedBy(
      (counts) => counts[known] ?? 0,
      `Errors of class \`${known}\` that a step may have: ${errorClasses[known]}.`,
      (_step, value, limit) =>
        sentence(
          value === 1 ? texts.oneOfClass : texts.manyOfClass,
          formatCount(value ?? 0),
          known,
          formatCount(limit),
        ),
    );
  },
};
