import assert from 'node:assert/strict';
import { notRunnable } from '../../../src/scenario/notRunnable';
import { useCases } from '../../../src/usecases/registry';
import { scenarioOf, withConfig } from './parsed';

describe('what this version cannot run', () => {
  const reasons: [text: string, reason: RegExp][] = [
    ['kind: resultparser\n', /resultparser/],
    [`${withConfig()}scenarios: [{ name: echo }, { name: broadcast }]\n`, /not a mix/],
    [withConfig('service: webpubsub'), /Web PubSub/],
    ['config:\n  connectionString: Endpoint=https://xxx;AccessKey=xxx\n', /connection string/],
    [withConfig('connectionType: AspNet'), /ASP\.NET SignalR/],
    [withConfig('transport: LongPolling'), /LongPolling/],
    [withConfig('transport: ServerSentEvents'), /ServerSentEvents/],
    [withConfig('protocol: messagepack'), /messagepack/],
    [withConfig('driver: sdk'), /driver: sdk/],
    [withConfig('dialect: measure'), /dialect/],
  ];
  for (const [text, reason] of reasons) {
    it(`is told as one sentence: ${String(reason)}`, () => {
      const sentence = notRunnable(scenarioOf(text));
      assert.match(sentence ?? '', reason);
      assert.match(sentence ?? '', /^[^.]*\S.*\.$/);
    });
  }

  it('is no plain hub scenario of a use case that has a way to run', () => {
    for (const useCase of useCases) {
      const text = `${withConfig()}scenario:\n  name: ${useCase.name}\n  parameters:\n    groupCount: 10\n`;
      assert.equal(
        notRunnable(scenarioOf(text)) === undefined,
        useCase.run !== undefined,
        useCase.name,
      );
    }
  });

  it('is not the ramp mode of the seed tool, which runs as a true rate', () => {
    assert.equal(notRunnable(scenarioOf(withConfig('arrivingBatchMode: LowPress'))), undefined);
  });
});
