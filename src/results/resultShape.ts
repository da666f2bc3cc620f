import { connectPhases } from '../base/connectPhase';
import { otherObjectives } from '../base/slo';
import { allParameters } from '../scenario/keys/allParameters';
import type { Shape } from './shape';

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
    ...numbers('cpuUsPerMessage cpuShare loopDelayP99Us slipP99Us'),
    gcShare: { optional: 'number' },
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
          // Absent in results of earlier versions, which gave no number for failed steps.
          stepStatus: { optional: { oneOf: ['pass', 'fail'] } },
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
