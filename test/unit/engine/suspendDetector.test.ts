import assert from 'node:assert/strict';
import { SuspendDetector, type ClockReadings } from '../../../src/engine/suspendDetector';

const second = 1_000_000;

describe('A process that looks at its clocks', () => {
  let clocks: ClockReadings;
  let suspendDetector: SuspendDetector;

  beforeEach(() => {
    clocks = { clockUs: 5 * second, uptimeUs: 900 * second, cpuUs: 3 * second, waitedUs: 0 };
    suspendDetector = new SuspendDetector(() => clocks);
  });
  afterEach(() => suspendDetector.dispose());

  /** Time goes on by so many seconds, of which the process used so many of the processor; what it notices, in seconds. */
  function pass(tookS: number, cpuS: number, upS = tookS, waitedS = 0): number {
    clocks = {
      clockUs: clocks.clockUs + tookS * second,
      uptimeUs: clocks.uptimeUs + upS * second,
      cpuUs: clocks.cpuUs + cpuS * second,
      waitedUs: clocks.waitedUs + waitedS * second,
    };
    return suspendDetector.takeUs() / second;
  }

  it('notices nothing while it runs', () => {
    for (let look = 0; look < 20; look++) assert.equal(pass(0.1, 0.04), 0);
  });

  it('has stood still where a second and more passed without it', () => {
    pass(0.1, 0.08);
    assert.equal(pass(3, 0.1), 3);
    assert.equal(pass(0.1, 0.08), 0);
  });

  it('knows how much it used to work before, with however many threads', () => {
    pass(0.1, 3);
    assert.equal(pass(1.2, 3.1), 1.2);
  });

  it('has not stood still where one thread worked all the time', () => {
    pass(0.1, 0.08);
    assert.equal(pass(1.5, 1.5), 0);
    // Where others had most of the processor, too.
    assert.equal(pass(1.5, 0.4), 0);
  });

  it('has not stood still where it waited for a processor', () => {
    pass(0.1, 0.08);
    assert.equal(pass(1.5, 0, 1.5, 1.4), 0);
    // Stopped, and then behind others.
    assert.equal(pass(3, 0, 3, 0.4), 3);
  });

  it('knows that the machine slept where its clock stood still, too', () => {
    assert.equal(pass(0.1, 0.05, 3600), 3600);
  });

  it('is not misled by machines that say in whole seconds how long they are up', () => {
    assert.equal(pass(0.1, 0.05, 1), 0);
    assert.equal(pass(0.1, 0.05, 0), 0);
  });

  it('reports the longest of several', () => {
    clocks = { ...clocks, clockUs: clocks.clockUs + 2 * second };
    (suspendDetector as unknown as { look(): void }).look();
    assert.equal(pass(1.1, 0), 2);
  });
});
