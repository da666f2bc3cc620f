import assert from 'node:assert/strict';
import { scenarioEstimate } from '../../../../src/capacity/estimate';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { analysed } from './analysed';
import { threeWhoType } from './madeRecording';

describe('callbacks of a recording that are only counted', () => {
  it('are in the estimate of its scenario as often, and as large, as they came', async () => {
    const { yaml } = await analysed(threeWhoType());
    const { scenario, problems } = parseScenario(yaml);
    assert.deepEqual(
      problems.filter(({ severity }) => severity === 'error'),
      [],
    );
    const found = scenarioEstimate(scenario!);
    assert.ok('estimate' in found);
    const { loads, notes, formula } = found.estimate;
    // 60 in all, to three clients with one session each; nothing of them goes in.
    const intervalMs = Number(scenario!.entries[0]!.parameters['sessionInterval']);
    const callbacks = loads.at(-1)!;
    assert.equal(callbacks.in_messages_per_s, 0);
    assert.equal(callbacks.out_messages_per_s.toFixed(3), (60_000 / intervalMs).toFixed(3));
    assert.match(formula.at(-1)!, /^callbacks: .* \(counted for 10 B\)/);
    assert.doesNotMatch(notes.join(' '), /Not in this estimate/);
  });
});
