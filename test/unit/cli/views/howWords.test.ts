import assert from 'node:assert/strict';
import { howWords, marksOf } from '../../../../src/cli/views/howWords';
import type { Scenario } from '../../../../src/scenario/scenario';
import { sampleScenario } from '../../results/sampleResult';

describe('howWords', () => {
  it('says nothing of the usual way, however the dialect was found', () => {
    assert.equal(howWords(sampleScenario), '');
    assert.equal(howWords(sampleScenario, 'recordLatency'), '');
  });

  it('names each way that differs, and the dialect that was spoken before the one written', () => {
    const closed = { ...sampleScenario, transport: 'ServerSentEvents', pacing: 'closed' } as const;
    assert.equal(howWords(closed), 'over ServerSentEvents, closed pacing');
    const written = { ...sampleScenario, dialect: 'measure' } as const;
    assert.equal(howWords(written), 'dialect measure');
    assert.equal(howWords(written, 'recordLatency'), '');
  });

  it('comes after what has answered, where that was no service', () => {
    const closed = { ...sampleScenario, pacing: 'closed' } as const;
    const url = { kind: 'hubUrl', emulated: true } as const;
    assert.equal(marksOf({ ...sampleScenario, service: 'hub' }, { kind: 'hubUrl' }), '');
    assert.equal(
      marksOf({ ...closed, service: 'hub' }, url),
      'against the embedded hub, closed pacing',
    );
    assert.equal(
      marksOf({ ...closed, service: 'signalr' }, url),
      'against an emulator, closed pacing',
    );
    const text = { ...url, kind: 'connectionString' };
    assert.equal(marksOf({ ...sampleScenario, service: 'hub' }, text), 'against an emulator');
    const named = { ...sampleScenario, driver: 'emulator' } as unknown as Scenario;
    assert.equal(marksOf(named, {}), '', 'nothing of the file is believed');
  });

  it('repeats nothing of a file that it does not know', () => {
    const hostile = { transport: { toString: 1 }, protocol: '\u001b[2J', driver: 'toString' };
    assert.equal(howWords(hostile as unknown as Scenario), '');
  });
});
