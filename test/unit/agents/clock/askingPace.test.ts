import assert from 'node:assert/strict';
import { AskingPace } from '../../../../src/agents/clock/referenceClock';

describe('when an agent asks for the time', () => {
  /** Questions of a burst that each leave this error, and the pause after it. */
  function burst(pace: AskingPace, errorUs: number): { asked: number; pauseMs: number } {
    let asked = 1;
    while (pace.goesOn(asked, errorUs)) asked += 1;
    return { asked, pauseMs: pace.pauseMs(errorUs) };
  }

  it('is seldom while it knows the time well', () => {
    assert.deepEqual(burst(new AskingPace(3), 150), { asked: 1, pauseMs: 700 });
  });

  it('is often while it does not, and less so the more agents ask', () => {
    for (const [agents, asked, pauseMs] of [
      [1, 4, 100],
      [3, 4, 120],
      [10, 4, 400],
      [25, 4, 1000],
      [50, 2, 1000],
      [200, 1, 1000],
    ] as const) {
      const pace = new AskingPace(agents);
      burst(pace, 150);
      assert.deepEqual(burst(pace, 600), { asked, pauseMs }, `${agents} agents`);
    }
  });

  it('expects no more than a long way allows', () => {
    assert.deepEqual(burst(new AskingPace(3), 10_000), { asked: 1, pauseMs: 1000 });
  });

  it('forgets a way that was shorter', () => {
    const pace = new AskingPace(1);
    burst(pace, 200);
    const bursts = Array.from({ length: 120 }, () => burst(pace, 5000));
    assert.equal(bursts[0]!.asked, 4);
    assert.equal(bursts.at(-1)!.asked, 1);
  });
});
