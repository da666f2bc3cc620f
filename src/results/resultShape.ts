import { connectPhases } from '../base/connectPhase';
import { otherObjectives } from '../base/slo';
import { allParameters } from '../scenario/keys/scenarioKeys';

/** The shape that data read from a file must have; unknown keys are allowed, they may be newer. */
export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  /** Text of a moment that a date can hold. */
  | 'time'
  | { readonly oneOf: readonly string[] }
  | { readonly list: Shape; readonly most: number }
  | { readonly record: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly nullable: Shape }
  | { readonly optional: Shape };

/** Results have about eight levels; what a newer version adds may have some more. */
const mostLevels = 64;

/**
 * Where a value first differs from its shape, as `steps[0].sent: must be a number`; undefined when it
 * does not. Numbers must be such that arithmetic keeps them whole: what is counted never is beyond. What the shape does not name must not be nested deeply either:
 * whoever copies or writes it goes down level by level and would exhaust the stack.
 */
export function shapeProblem(value: unknown, shape: Shape): string | undefined {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) return `it is nested deeper than ${mostLevels} levels`;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : [],
    );
  }
  return problemAt(value, shape, '');
}

function problemAt(value: unknown, shape: Shape, at: string): string | undefined {
  const wrong = (what: string): string => `${at || 'the file'}: must be ${what}`;
  if (shape === 'time') {
    const fits = typeof value === 'string' && !Number.isNaN(Date.parse(value));
    return fits ? undefined : wrong('a time');
  }
  if (typeof shape === 'string') {
    const fits =
      typeof value === 'number'
        ? shape === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
        : typeof value === shape;
    return fits ? undefined : wrong(`a ${shape}`);
  }
  if ('optional' in shape) {
    return value === undefined ? undefined : problemAt(value, shape.optional, at);
  }
  if ('nullable' in shape) {
    return value === null ? undefined : problemAt(value, shape.nullable, at);
  }
  if ('oneOf' in shape) {
    const fits = typeof value === 'string' && shape.oneOf.includes(value);
    return fits ? undefined : wrong(`one of ${shape.oneOf.join(', ')}`);
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) return wrong('a list');
    if (value.length > shape.most) return wrong(`a list of at most ${shape.most}`);
    return first(value, (item, index) => problemAt(item, shape.list, `${at}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong('an object');
  const object = value as Record<string, unknown>;
  const below = (name: string): string => (at ? `${at}.${name}` : name);
  return 'record' in shape
    ? first(Object.entries(object), ([name, item]) => problemAt(item, shape.record, below(name)))
    : first(Object.entries(shape.fields), ([name, field]) =>
        problemAt(Object.hasOwn(object, name) ? object[name] : undefined, field, below(name)),
      );
}

function first<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const numbers = (names: string): Readonly<Record<string, Shape>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, 'number' as const]));

const connectTimes: Shape = { fields: numbers('p50 p99 max') };
const quantiles = numbers('p50 p90 p95 p99');
const lifeShape: Shape = {
  fields: {
    ...numbers('drops closed reconnects'),
    reconnectUs: { fields: quantiles },
    lifeSpanMs: { fields: quantiles },
    downMs: { fields: quantiles },
    sla: { fields: { ...quantiles, mean: 'number' } },
  },
};
const recoveries: Shape = {
  list: {
    fields: {
      ...numbers('atS missing'),
      connectionsS: { nullable: 'number' },
      latencyS: { optional: { nullable: 'number' } },
    },
  },
  most: 1000,
};
const counts: Shape = { record: 'number' };
const latency: Shape = { fields: numbers('count min mean p50 p90 p95 p99 p999 p9999 max') };
const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999', 'p9999', 'max'];
const judged: Shape = {
  fields: Object.fromEntries(percentiles.map((name) => [name, { nullable: 'number' as const }])),
};
const generator: Shape = {
  fields: {
    ...numbers('cpuUsPerMessage cpuShare loopDelayP99Us slipP99Us gcShare'),
    valid: 'boolean',
    cause: { optional: 'string' },
  },
};
const verdictStatus = { oneOf: ['pass', 'fail', 'invalid', 'incomplete'] } as const;
const verdict: Shape = {
  fields: {
    status: verdictStatus,
    reasons: { list: { fields: { code: 'string', message: 'string' } }, most: 100_000 },
    checks: {
      optional: {
        list: {
          fields: {
            metric: 'string',
            limit: 'number',
            value: { nullable: 'number' },
            met: 'boolean',
          },
        },
        most: 100,
      },
    },
  },
};
const messages = {
  ...numbers('senders offered sent expected received lost duplicated outOfOrder late extra'),
  ...numbers('sentPerSecond receivedPerSecond'),
  ...numbers('payloadBytesIn payloadBytesOut'),
  wireBytesIn: { nullable: 'number' },
  wireBytesOut: { nullable: 'number' },
  latencyUs: latency,
  judgedUs: { optional: judged },
  sendLatencyUs: latency,
  histogram: 'string',
} as const satisfies Readonly<Record<string, Shape>>;
/** Entries of a mix; a scenario has fewer. */
const mostEntries = 100;
const step: Shape = {
  fields: {
    ...numbers('index seconds'),
    ...messages,
    entries: {
      optional: { list: { fields: { ...messages, name: 'string' } }, most: mostEntries },
    },
    errors: counts,
    generator,
    connections: {
      optional: { fields: { ...numbers('requested open'), held: { optional: 'number' } } },
    },
    recoveries: { optional: recoveries },
    membership: {
      optional: {
        fields: {
          ...numbers('joins joinsFailed leaves leavesFailed skipped'),
          joinUs: latency,
          leaveUs: latency,
        },
      },
    },
    verdict,
  },
};
const estimate = {
  fields: {
    unit: { nullable: 'number' },
    binding: { fields: { name: 'string', utilisation: 'number', text: 'string' } },
    notes: { list: 'string', most: 1000 },
    app_servers: { nullable: 'number' },
    server_connections_per_app_server: { nullable: 'number' },
    planned: {
      optional: { fields: { exceeded: 'boolean', offered: 'boolean', sentence: 'string' } },
    },
  },
} as const satisfies Shape;

/** Parameters of use cases as the parser keeps them; those this version does not know may be anything. */
const parameters: Readonly<Record<string, Shape>> = Object.fromEntries(
  [...allParameters].map(([name, { spec }]) => [name, { optional: parsedShape(spec.type) }]),
);

function parsedShape(type: string): Shape {
  if (type === 'flag') return 'boolean';
  return ['choice', 'text', 'list'].includes(type) ? 'string' : 'number';
}

/** What the readers of a `result.json` rely on. */
export const resultShape: Shape = {
  fields: {
    schema: 'string',
    id: 'string',
    tool: { fields: { name: 'string', version: 'string' } },
    startedAt: 'time',
    endedAt: 'time',
    ending: {
      oneOf: ['completed', 'stopped', 'threshold', 'targetLost', 'workerLost', 'interrupted'],
    },
    endingMessage: { optional: 'string' },
    plannedSteps: { optional: 'number' },
    verdict,
    scenario: {
      fields: {
        ...numbers('connections baseSending step sendingSteps'),
        entries: {
          list: {
            fields: {
              name: 'string',
              parameters: { fields: parameters },
            },
          },
          most: 10_000,
        },
        slo: {
          get fields() {
            const others = Object.keys(otherObjectives);
            return {
              latencyUs: counts,
              ...Object.fromEntries(others.map((metric) => [metric, { optional: 'number' }])),
            } satisfies Readonly<Record<string, Shape>>;
          },
        },
      },
    },
    target: {
      fields: {
        kind: 'string',
        url: 'string',
        dialect: { optional: 'string' },
        emulated: { optional: 'boolean' },
      },
    },
    machine: { fields: { ...numbers('cores workers'), node: 'string' } },
    connections: {
      fields: {
        ...numbers('requested connected failed dropped reconnected'),
        notBack: { optional: 'number' },
        connectUs: connectTimes,
        connectPhasesUs: {
          optional: {
            fields: Object.fromEntries(
              connectPhases.map((phase) => [phase, { optional: connectTimes }]),
            ),
          },
        },
        openedPerSecond: { optional: 'number' },
        pings: { optional: { fields: numbers('sent received') } },
        life: { optional: lifeShape },
        targets: {
          optional: {
            list: {
              fields: {
                url: 'string',
                ...numbers('connected failed dropped received'),
                connectUs: connectTimes,
                latencyUs: latency,
              },
            },
            most: 1000,
          },
        },
        drops: {
          optional: {
            list: {
              fields: { ...numbers('connection atS openS'), errorClass: 'string', text: 'string' },
            },
            most: 10_000,
          },
        },
      },
    },
    steps: { list: step, most: 10_000 },
    errors: counts,
    errorExamples: { list: { fields: { errorClass: 'string', text: 'string' } }, most: 10_000 },
    estimate: { nullable: estimate },
    estimateProblem: { optional: 'string' },
    recommendation: {
      nullable: {
        fields: {
          ...estimate.fields,
          headline: 'string',
          reasons: { list: 'string', most: 1000 },
          step: 'number',
          stepStatus: { oneOf: ['pass', 'fail'] },
        },
      },
    },
    recommendationProblem: { optional: 'string' },
  },
};

/** What the readers of one line of `samples.jsonl` rely on. */
export const sampleShape: Shape = {
  fields: {
    ...numbers('atMs tick stepCount'),
    phase: 'string',
    connections: {
      fields: {
        ...numbers('requested connected failed dropped connectP99Us'),
        takingPart: { optional: 'number' },
        reconnected: { optional: 'number' },
      },
    },
    step: {
      optional: {
        fields: {
          ...numbers('index senders elapsedS totalS offered sent expected received outstanding'),
          ...numbers('duplicated outOfOrder sentPerSecond receivedPerSecond'),
          verdict: { optional: verdictStatus },
          latencyUs: latency,
          errors: { optional: 'number' },
          warmupErrors: { optional: 'number' },
          latencyClasses: { optional: { list: 'number', most: 11 } },
          payloadBytesIn: { optional: 'number' },
          payloadBytesOut: { optional: 'number' },
          entries: {
            optional: {
              list: {
                fields: {
                  name: 'string',
                  ...numbers('senders offered sent expected received outstanding'),
                  ...numbers('sentPerSecond receivedPerSecond'),
                  latencyUs: latency,
                },
              },
              most: mostEntries,
            },
          },
          generator,
        },
      },
    },
    interval: {
      optional: {
        fields: {
          ...numbers('seconds receivingSeconds offered sent received'),
          latencyUs: latency,
        },
      },
    },
    errors: counts,
    problem: { optional: 'string' },
  },
};
