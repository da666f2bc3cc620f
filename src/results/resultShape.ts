import type { Shape } from './shape';

const numbers = (names: string): Readonly<Record<string, Shape>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, 'number' as const]));

const counts: Shape = { record: 'number' };
const latency: Shape = { fields: numbers('count min mean p50 p90 p95 p99 p999 p9999 max') };
const generator: Shape = {
  fields: {
    ...numbers('cpuUsPerMessage cpuShare loopDelayP99Us slipP99Us'),
    gcShare: { optional: 'number' },
    valid: 'boolean',
  },
};
const verdict: Shape = {
  fields: {
    status: { oneOf: ['pass', 'fail', 'invalid', 'incomplete'] },
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
const step: Shape = {
  fields: {
    ...numbers('index senders seconds offered sent expected received lost duplicated outOfOrder'),
    ...numbers('late extra sentPerSecond receivedPerSecond'),
    ...numbers('payloadBytesIn payloadBytesOut wireBytesIn wireBytesOut'),
    latencyUs: latency,
    sendLatencyUs: latency,
    histogram: 'string',
    errors: counts,
    generator,
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
  },
} as const satisfies Shape;

/** What the readers of a `result.json` rely on. */
export const resultShape: Shape = {
  fields: {
    schema: 'string',
    id: 'string',
    tool: { fields: { name: 'string', version: 'string' } },
    startedAt: 'string',
    endedAt: 'string',
    ending: {
      oneOf: ['completed', 'stopped', 'threshold', 'targetLost', 'workerLost', 'interrupted'],
    },
    endingMessage: { optional: 'string' },
    verdict,
    scenario: {
      fields: {
        connections: 'number',
        entries: {
          list: {
            fields: {
              name: 'string',
              parameters: { fields: {} },
            },
          },
          most: 10_000,
        },
        slo: {
          fields: {
            latencyUs: counts,
            dropped: { optional: 'number' },
            delivered: { optional: 'number' },
          },
        },
      },
    },
    target: { fields: { kind: 'string', url: 'string' } },
    machine: { fields: { ...numbers('cores workers'), node: 'string' } },
    connections: {
      fields: {
        ...numbers('requested connected failed dropped reconnected'),
        connectUs: { fields: numbers('p50 p99 max') },
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
    connections: { fields: numbers('requested connected failed dropped connectP99Us') },
    step: {
      optional: {
        fields: {
          ...numbers('index senders elapsedS totalS offered sent expected received outstanding'),
          ...numbers('duplicated outOfOrder sentPerSecond receivedPerSecond'),
          latencyUs: latency,
          generator,
        },
      },
    },
    errors: counts,
  },
};
