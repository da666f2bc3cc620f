import assert from 'node:assert/strict';
import { verdictSentence } from '../../src/measure/show/verdictSentence';
import { completeResult } from '../../src/results/completeResult';
import { adviceForError } from '../../src/measure/judge/hubComplaint';
import { detectHubTraits } from '../../src/wire/connect/probeHub';
import { endpointOf } from '../fakes/endpoint';
import { loadRun, scenarioOf, scenarioText, type LoadTest } from '../load/loadRun';
import { sharedAspNetServer } from './aspnetServer';

const short = {
  ...{ dialect: 'recordLatency', skipNegotiation: false, connections: 5 },
  ...{ singleStepDuration: '300ms', warmup: 0, drain: '200ms' },
};

describe('hubs of ASP.NET Core that are not made for a benchmark', function () {
  const server = sharedAspNetServer();
  const at = (path: string): string => server.url.replace('/signalrbench', path);

  /** The sentence of a run, and the advice about its errors. */
  async function sentence(test: LoadTest): Promise<readonly [string, string]> {
    const run = await loadRun({ ...test, config: { ...short, ...test.config } });
    const scenario = scenarioOf(scenarioText(test));
    const { verdict } = completeResult(run, scenario, { id: 'x', toolVersion: '0' });
    const said = verdictSentence({ ...run, verdict, scenario });
    return [
      said,
      adviceForError(
        'invocation',
        run.errorExamples.map(({ text }) => text),
      ),
    ];
  }

  it('lack what a run asks them for', async () => {
    const asked = ['Echo', 'Slow', 'JoinGroup'];
    assert.deepEqual(await detectHubTraits(endpointOf(at('/own')), asked), {
      dialect: 'measure',
      lacks: ['Echo', 'JoinGroup'],
    });
  });

  it('cast a JsonElement to a text, as it was once written', async () => {
    for (const [useCase, key, parameters] of [
      ['sendToClient', 'information.ConnectionId', {}],
      ['sendToGroup', 'information.GroupName', { groupCount: 2 }],
    ] as const) {
      const [said, advice] = await sentence({ target: at('/seed'), useCase, parameters });
      const name = useCase.replace('s', 'S');
      assert.match(
        said,
        new RegExp(`; the hub's method ${name} is there but throws an exception \\(5 calls`),
      );
      assert.ok(advice.includes(`data["${key}"].ToString()`), advice);
    }
  });

  it('have no method that joins groups', async () => {
    const [said] = await sentence({
      target: at('/seedchat'),
      useCase: 'sendToGroup',
      parameters: { groupCount: 2 },
    });
    assert.match(
      said,
      /The hub has no method JoinGroup, so none of the 5 connections could take part/,
    );
    assert.doesNotMatch(said, /were lost/);
  });

  it('have no method of that name', async () => {
    const parameters = { method: 'Nope', arguments: ['{text:60}'], messageSize: undefined };
    const [said, advice] = await sentence({ target: at('/own'), useCase: 'invoke', parameters });
    assert.match(said, /; the hub has no method Nope/);
    assert.doesNotMatch(advice, /doctor/);
  });
});
