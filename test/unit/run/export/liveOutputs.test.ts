import assert from 'node:assert/strict';
import { createServer, request, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { openLiveOutputs, metricsUrl } from '../../../../src/run/export/liveOutputs';
import { createRunMetrics, resultNumbers } from '../../../../src/run/export/runMetrics';
import { sampleScenario, sampleSnapshot } from '../../results/sampleResult';
import { recordedResult } from './recordedResult';

/** OpenTelemetry's own definitions of what is pushed, read by protobuf's own reader; they come without types. */
const { opentelemetry } = createRequire(__filename)(
  'otlp-definitions/build/src/generated/root.js',
) as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly metrics: {
          readonly v1: {
            readonly ExportMetricsServiceRequest: { decode(body: Buffer): PushedMetrics };
          };
        };
      };
    };
  };
};

interface Point {
  readonly attributes: readonly { key: string; value: { stringValue: string } }[];
  readonly asDouble?: number;
  readonly asInt?: unknown;
}
interface PushedMetrics {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: Point['attributes'] };
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit?: string;
        readonly sum?: { readonly dataPoints: readonly Point[]; readonly isMonotonic: boolean };
        readonly gauge?: { readonly dataPoints: readonly Point[] };
      }[];
    }[];
  }[];
}

const ucum = { seconds: 's', bytes: 'By', ratio: '1' } as const;
const numberOf = ({ asDouble, asInt }: Point): number => asDouble ?? Number(asInt);
const labelsOf = ({ attributes }: Point): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));

/** A collector that takes what it is sent, or answers with another status. */
async function collector(status = 200): Promise<{ url: string; server: Server; bodies: Buffer[] }> {
  const bodies: Buffer[] = [];
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      assert.equal(message.url, '/v1/metrics');
      assert.equal(message.headers['content-type'], 'application/x-protobuf');
      bodies.push(Buffer.concat(chunks));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server, bodies };
}

const target = { url: 'http://localhost:5050/signalrbench' };
const prepared = {
  ...{ folder: { id: recordedResult().id }, scenario: sampleScenario, target },
} as Parameters<Awaited<ReturnType<typeof openLiveOutputs>>['begin']>[0];
const none = (text: string): void => assert.fail(text);

describe('the metrics endpoint of a run', () => {
  it('has the numbers of the last snapshot, then those of the result', async () => {
    const outputs = await openLiveOutputs({ metricsPort: 0 }, none);
    try {
      const read = async (): Promise<string> => {
        const answer = await fetch(outputs.url!);
        assert.match(
          answer.headers.get('content-type')!,
          /^application\/openmetrics-text; version=1/,
        );
        return answer.text();
      };
      assert.match(await read(), /\nsignalr_bench_connections\{state="connected"\} 0\n/);
      outputs.begin(prepared);
      outputs.update(sampleSnapshot(20, 1));
      const during = await read();
      assert.match(during, /_run_info\{id="2026-11-21T14-02-11-chat-room",scenario="chat-room"/);
      assert.match(during, /_run_phase\{signalr_bench_run_phase="measuring"\} 1\n/);
      const { sent } = sampleSnapshot(20, 1).step!;
      assert.ok(during.includes(`signalr_bench_messages_sent_total{step="1"} ${sent}\n`));
      assert.doesNotMatch(during, /_run_verdict|NaN/);
      outputs.finish(recordedResult());
      assert.match(await read(), /_run_verdict\{signalr_bench_run_verdict="pass"\} 1\n/);
    } finally {
      await outputs.close();
    }
  });

  it('answers nobody who calls it by another name, and nothing else', async () => {
    const outputs = await openLiveOutputs({ metricsPort: 0 }, none);
    const status = (path: string, host: string, method = 'GET'): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { port } = new URL(outputs.url!);
        const asked = request({ host: '127.0.0.1', port, path, method, headers: { host } });
        asked.on('response', (answer) => resolve(answer.resume().statusCode));
        asked.on('error', reject).end();
      });
    try {
      assert.deepEqual(
        await Promise.all([
          status('/metrics', 'localhost'),
          status('/metrics?x=1', '127.0.0.1:1', 'HEAD'),
          status('/metrics', '[::1]:9464'),
          status('/metrics', 'bench.localhost:80'),
          status('/metrics', 'evil.example'),
          status('/metrics', 'localhost@evil.example'),
          status('/', 'localhost'),
          status('/metrics', 'localhost', 'POST'),
        ]),
        [200, 200, 200, 200, 403, 403, 404, 405],
      );
    } finally {
      await outputs.close();
    }
  });

  it('says which port is taken', async () => {
    const { server, url } = await collector();
    const { port } = new URL(url);
    await assert.rejects(openLiveOutputs({ metricsPort: Number(port) }, none), {
      code: 'metrics-port',
      message: `Metrics cannot be served on port ${port} of 127.0.0.1 (EADDRINUSE). Choose another --metrics-port, or 0 for any free one.`,
    });
    server.close();
  });

  it('keeps the steps of a long search within bounds', async () => {
    const outputs = await openLiveOutputs({ metricsPort: 0 }, none);
    try {
      for (let step = 1; step <= 250; step++) outputs.update(sampleSnapshot(20 + step, step));
      const text = await (await fetch(outputs.url!)).text();
      const steps = [...text.matchAll(/^signalr_bench_step_senders\{step="(\d+)"\}/gm)];
      assert.deepEqual([steps[0]?.[1], steps.length], ['151', 100]);
    } finally {
      await outputs.close();
    }
  });
});

describe('metrics pushed by OTLP', () => {
  it('are at the end those of the result', async () => {
    const { url, server, bodies } = await collector();
    const outputs = await openLiveOutputs({ otlp: url }, none);
    outputs.begin(prepared);
    outputs.update(sampleSnapshot(20, 1));
    outputs.finish(recordedResult());
    await outputs.close();
    server.close();
    assert.equal(bodies.length, 1);
    const { ExportMetricsServiceRequest } = opentelemetry.proto.collector.metrics.v1;
    const [pushed] = ExportMetricsServiceRequest.decode(bodies[0]!).resourceMetrics;
    const { attributes } = pushed!.resource;
    assert.deepEqual(labelsOf({ attributes }), { 'service.name': 'signalr-bench' });
    const metrics = pushed!.scopeMetrics.flatMap((scope) => scope.metrics);
    const expected = createRunMetrics(resultNumbers(recordedResult()));
    assert.deepEqual(
      metrics.map(({ name }) => name),
      expected.map(({ name }) => `signalr_bench.${name}`),
    );
    for (const [at, { kind, points, unit }] of expected.entries()) {
      const { sum, gauge, ...metric } = metrics[at]!;
      const data = sum ?? gauge!;
      assert.equal(sum?.isMonotonic, kind === 'counter' ? true : undefined, metric.name);
      assert.equal(metric.unit ?? '', unit ? ucum[unit] : '');
      assert.deepEqual(
        data.dataPoints.map((point) => [labelsOf(point), numberOf(point)]),
        points.flatMap(({ labels, value, part }) => (part ? [] : [[labels, value]])),
        metric.name,
      );
    }
  });

  it('are given up with one warning where nobody takes them', async () => {
    const gone = await collector();
    await new Promise((resolve) => gone.server.close(resolve));
    const refusing = await collector(400);
    for (const { url } of [gone, refusing]) {
      const warnings: string[] = [];
      const outputs = await openLiveOutputs({ otlp: url }, (text) => warnings.push(text));
      outputs.begin(prepared);
      outputs.finish(recordedResult());
      await outputs.close();
      assert.equal(warnings.length, 1);
      assert.ok(warnings[0]!.startsWith(`${url} does not take metrics (`), warnings[0]);
      assert.ok(warnings[0]!.endsWith('). The run goes on without.'), warnings[0]);
    }
    refusing.server.close();
  });

  it('are none where nothing was begun', async () => {
    const { url, server, bodies } = await collector();
    const outputs = await openLiveOutputs({ otlp: url }, none);
    await outputs.close();
    server.close();
    assert.equal(bodies.length, 0);
  });

  it('go to the usual path where the address has none', () => {
    assert.equal(metricsUrl('http://localhost:4318'), 'http://localhost:4318/v1/metrics');
    assert.equal(metricsUrl('https://host/otlp/x?y=1'), 'https://host/otlp/x?y=1');
  });
});
