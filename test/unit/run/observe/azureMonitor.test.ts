import assert from 'node:assert/strict';
import { createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';
import { AzureResource } from '../../../../src/run/observe/azureMonitor';

const resource =
  '/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g/providers/Microsoft.SignalRService/SignalR/chat';

const metric = (name: string, unit: string, data: readonly object[]): object => ({
  id: `${resource}/providers/Microsoft.Insights/metrics/${name}`,
  type: 'Microsoft.Insights/metrics',
  name: { value: name, localizedValue: name },
  ...{ unit, errorCode: 'Success', timeseries: [{ metadatavalues: [], data }] },
});
const minute = (at: string, values: object): object => ({
  timeStamp: `2026-11-23T10:${at}:00Z`,
  ...values,
});

/** In the shape of the answers of the batch API of Azure Monitor, version 2024-02-01. */
const answer = {
  values: [
    {
      ...{ starttime: '2026-11-23T10:00:00Z', endtime: '2026-11-23T10:03:00Z', interval: 'PT1M' },
      ...{ namespace: 'microsoft.signalrservice/signalr', resourceregion: 'westeurope' },
      resourceid: resource,
      value: [
        metric('ServerLoad', 'Percent', [
          minute('00', { maximum: 40 }),
          minute('01', { maximum: 85 }),
          minute('02', {}),
        ]),
        metric('ConnectionCount', 'Count', [minute('00', { maximum: 1900 })]),
        metric('InboundTraffic', 'Bytes', [minute('00', { total: 6000 })]),
        metric('MessageCount', 'Count', [minute('00', { total: 120_000, maximum: 7 })]),
      ],
    },
  ],
};

describe('metrics of a service from Azure Monitor', () => {
  function stub(status: number, body: object) {
    const asked: { url: string; body: string; authorization: string | undefined }[] = [];
    const httpClient: HttpClient = {
      sendRequest: (request) => {
        const authorization = request.headers.get('authorization');
        asked.push({ url: request.url, body: request.body as string, authorization });
        const headers = createHttpHeaders({ 'content-type': 'application/json' });
        return Promise.resolve({ request, status, headers, bodyAsText: JSON.stringify(body) });
      },
    };
    const token = () =>
      Promise.resolve({ token: 'entra-token', expiresAtMs: Date.now() + 3_600_000 });
    return { asked, parts: { options: { httpClient }, token } };
  }

  const [from, to] = [new Date('2026-11-23T10:00:00Z'), new Date('2026-11-23T10:03:00Z')];

  it('are asked for by minutes, with the sign-in, and have the units of the result', async () => {
    const { asked, parts } = stub(200, answer);
    const series = await new AzureResource(
      resource,
      { region: 'westeurope' },
      undefined,
      parts,
    ).between(from, to);
    const at = (text: string): number => Date.parse(`2026-11-23T10:${text}:00Z`);
    assert.deepEqual(series, [
      {
        name: 'serverLoad @ chat',
        points: [
          [at('00'), 0.4],
          [at('01'), 0.85],
        ],
      },
      { name: 'trafficIn @ chat', points: [[at('00'), 100]] },
      { name: 'connections @ chat', points: [[at('00'), 1900]] },
      { name: 'MessageCount/s @ chat', points: [[at('00'), 2000]] },
    ]);
    const [question] = asked;
    const url = new URL(question!.url);
    assert.equal(url.host, 'westeurope.metrics.monitor.azure.com');
    assert.match(url.pathname, /^\/subscriptions\/11111111-[\d-]+\/metrics:getBatch$/);
    assert.equal(url.searchParams.get('metricnamespace'), 'microsoft.signalrservice/signalr');
    assert.match(url.searchParams.get('metricnames') ?? '', /ServerLoad,.*ConnectionCount/);
    assert.equal(url.searchParams.get('interval'), 'PT1M');
    assert.deepEqual(JSON.parse(question!.body), { resourceids: [resource] });
    assert.equal(question!.authorization, 'Bearer entra-token');
  });

  it('that are refused are asked for once, with the reason', async () => {
    const error = { error: { code: 'AuthorizationFailed', message: 'No right to read metrics.' } };
    const { asked, parts } = stub(403, error);
    const azure = new AzureResource(resource, { region: 'westeurope' }, undefined, parts);
    await assert.rejects(azure.between(from, to));
    assert.equal(asked.length, 1);
  });

  it('that are not there yet are none', async () => {
    const { parts } = stub(200, { values: [] });
    const azure = new AzureResource(resource, { region: 'westeurope' }, undefined, parts);
    assert.deepEqual(await azure.between(from, to), []);
  });
});
