import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { estimate } from '../../../../src/capacity/estimate';
import {
  groupShapes,
  presetOf,
  presetUnits,
  type PresetChoice,
} from '../../../../src/capacity/start/preset';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { lastStepSenders } from '../../../../src/scenario/steps';
import { findUseCase, useCases } from '../../../../src/usecases/registry';
import { inputOf } from '../scenarios';

const unitOf = (scenario: Scenario): number | null => estimate(inputOf(scenario)).unit;
const named = (name: string) => findUseCase(name)!;
const senders = (name: string, choice: PresetChoice): number =>
  presetOf(named(name), choice).senders;

describe('presets', () => {
  for (const [at, useCase] of useCases.entries()) {
    for (const service of ['signalr', 'webpubsub'] as const) {
      // What a replay sends is in a recording.
      if (!useCase.services.includes(service) || useCase.name === 'replay') continue;
      it(`give for ${useCase.name} on ${service} files whose estimate is their size`, () => {
        const shapes = useCase.parameters.some(({ name }) => name === 'groupCount')
          ? groupShapes
          : ([undefined] as const);
        let made = 0;
        const all = presetUnits(service);
        // The smallest and the largest with each use case, every other size with some of them.
        const units = all.filter(
          (unit, place) => unit === all[0] || unit === all.at(-1) || place % 8 === at % 8,
        );
        for (const [position, unit] of units.entries()) {
          // Each shape with several sizes.
          const groups = shapes[position % shapes.length];
          const choice = { service, unit, ...(groups === undefined ? {} : { groups }) };
          let preset;
          try {
            preset = presetOf(useCase, choice);
          } catch (error) {
            assert.ok(error instanceof ExpectedError && /have no traffic/.test(error.message));
            continue;
          }
          made += 1;
          const { scenario, problems } = parseScenario(preset.text);
          // In the set-up of the guides everybody sends, so that nobody is left to move.
          const serious = problems.filter(
            ({ severity, code }) => severity !== 'info' && code !== 'nobody-moves',
          );
          assert.deepEqual(serious, [], preset.text);
          assert.equal(lastStepSenders(scenario!), preset.senders, preset.text);
          assert.equal(unitOf(scenario!), unit, preset.text);
        }
        assert.ok(made > units.length / 3, `${made} of ${units.length} presets`);
      });
    }
  }

  it('have the figures of the guides', () => {
    const signalr = (unit: number): PresetChoice => ({ service: 'signalr', unit });
    assert.equal(senders('echo', signalr(1)), 1000);
    assert.equal(senders('echo', signalr(100)), 100_000);
    assert.equal(senders('broadcast', signalr(10)), 2);
    assert.equal(senders('sendToGroup', signalr(10)), 2000);
    assert.equal(senders('sendToGroup', signalr(50)), 7000);
    assert.equal(senders('sendToClient', signalr(20)), 9000);
    assert.equal(senders('restSendToUser', signalr(5)), 900);
    assert.equal(presetOf(named('echo'), signalr(20)).connections, 20_000);
  });

  it('refuse sizes that nobody sells, and use cases a service does not have', () => {
    assert.throws(() => presetOf(named('echo'), { service: 'signalr', unit: 11 }), {
      name: 'ExpectedError',
      message: /^There is no Unit 11\. Sizes are 1, 2, 3,/,
    });
    assert.throws(() => presetOf(named('streamingEcho'), { service: 'webpubsub', unit: 1 }), {
      message: 'streamingEcho does not exist on Azure Web PubSub.',
    });
  });

  it('name the service and the variable of its connection string', () => {
    const text = (name: string, service: PresetChoice['service']): string =>
      presetOf(named(name), { service, unit: 1 }).text;
    assert.match(
      text('restBroadcast', 'signalr'),
      /^ {2}connectionString: \$\{env:AZURE_SIGNALR\}\n {2}service: signalr$/m,
    );
    assert.match(
      text('echo', 'signalr'),
      /^ {2}target: local$(\n {2}#.*)*\n {2}# service: signalr$/m,
    );
    const echo = text('echo', 'webpubsub');
    assert.match(
      echo,
      /env:AZURE_WEBPUBSUB\}\n {2}service: webpubsub\n( {2}#.*\n)+ {2}# upstream:/,
    );
    assert.doesNotMatch(text('sendToGroup', 'webpubsub'), /upstream/);
  });
});
