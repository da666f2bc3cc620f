import assert from 'node:assert/strict';
import { PacingLoop, type Driven } from '../../../../src/engine/send/pacingLoop';
import { VirtualTime } from '../../../fakes/virtualTime';

describe('PacingLoop', () => {
  let time: VirtualTime;
  let loop: PacingLoop;
  /** Moments at which something is due, microseconds, rising. */
  let due: number[];
  let done: { readonly dueUs: number; readonly atUs: number }[];
  let delays: number[];
  let naps: number[];
  /** How long the loop went round without waiting for input. */
  let turns: number[];
  /** Due moments that are handled in one go. */
  let most: number;

  beforeEach(() => {
    time = new VirtualTime().install();
    due = [];
    done = [];
    delays = [];
    naps = [];
    turns = [];
    most = Infinity;
    loop = new PacingLoop({
      nowUs: () => time.nowUs(),
      nap: (ms) => time.pass(ms),
      watch,
    });
  });
  const watch: ConstructorParameters<typeof PacingLoop>[0]['watch'] = {
    delayed: (us) => delays.push(us),
    napped: (us) => naps.push(us),
    turned: (us) => turns.push(us),
  };
  const driven: Driven = {
    get nextUs() {
      return due[0] ?? Infinity;
    },
    work: () => {
      for (let count = 0; due[0] !== undefined && due[0] <= time.nowUs(); count++) {
        if (count === most) return true;
        done.push({ dueUs: due.shift()!, atUs: time.nowUs() });
      }
      return false;
    },
  };
  afterEach(() => {
    loop.end();
    time.restore();
  });

  it('does what is due within a nap of its time, never before', async () => {
    due = [3000, 10_000, 10_500, 200_000.5, 999_999];
    loop.begin(driven);
    await time.to(1000);
    assert.equal(done.length, 5);
    for (const { dueUs, atUs } of done)
      assert.ok(atUs >= dueUs && atUs - dueUs <= 60, `${dueUs} was handled at ${atUs}`);
    assert.ok(naps.every((us) => us <= 50 + 1e-6));
  });

  it('sleeps by a timer while nothing is due, and naps only in the last two milliseconds', async () => {
    due = [500_000];
    loop.begin(driven);
    await time.to(497);
    assert.equal(naps.length, 0);
    await time.to(501);
    const nappedUs = naps.reduce((sum, us) => sum + us, 0);
    assert.ok(nappedUs > 500 && nappedUs <= 2000, `napped ${nappedUs} us`);
  });

  it('wakes at least every 50 ms, so that its delay is known, and says how late that was', async () => {
    loop.begin(driven);
    await time.to(500);
    assert.deepEqual(delays, Array(10).fill(0));
    time.pass(30 + 50);
    await time.to(580);
    assert.deepEqual(delays.slice(10), [30_000]);
  });

  it('looks after input, when something has become due', () => {
    due = [40_000];
    loop.begin(driven);
    time.pass(30);
    loop.inputHandled(time.nowUs());
    assert.deepEqual(done, []);
    time.pass(12);
    loop.inputHandled(time.nowUs());
    assert.deepEqual(done, [{ dueUs: 40_000, atUs: 42_000 }]);
  });

  it('is on time for what input has made due before its timer', async () => {
    loop.begin(driven);
    await time.to(7);
    due = [12_000];
    loop.inputHandled(time.nowUs());
    await time.to(20);
    assert.equal(done.length, 1);
    assert.ok(done[0]!.atUs >= 12_000 && done[0]!.atUs <= 12_060, String(done[0]!.atUs));
  });

  it('sets no timer anew for what is due later than that', async () => {
    due = [40_000];
    loop.begin(driven);
    await time.to(5);
    due.push(60_000);
    const firesMs = time.nowMs + time.untilNextMs;
    time.lateMs = () => assert.fail('a timer was set');
    for (let count = 0; count < 10; count++) loop.inputHandled(time.nowUs());
    loop.rescheduled();
    time.lateMs = () => 0;
    await time.to(5.01);
    assert.equal(time.nowMs + time.untilNextMs, firesMs);
    await time.to(61);
    assert.equal(done.length, 2);
  });

  it('goes on at once where more is due after input than one go can hold', async () => {
    most = 2;
    loop.begin(driven);
    await time.to(3);
    due = [3000, 3000, 3000, 3000, 3000];
    loop.inputHandled(time.nowUs());
    await time.to(4);
    assert.equal(done.length, 5);
  });

  it('is woken for what is due earlier than it was', async () => {
    loop.begin(driven);
    await time.to(1);
    due = [20_000];
    loop.rescheduled();
    await time.to(21);
    assert.equal(done[0]?.dueUs, 20_000);
    assert.ok(done[0].atUs < 20_100);
  });

  it('lets input in between, where there is more than one go can hold', async () => {
    most = 2;
    due = [10_000, 10_000, 10_000, 10_000, 10_000];
    loop.begin(driven);
    await time.to(11);
    assert.equal(done.length, 5);
    assert.equal(new Set(done.map(({ atUs }) => atUs)).size, 3);
  });

  describe('with much to send', () => {
    const gatherUs = 200;
    beforeEach(() => {
      loop = new PacingLoop({
        ...{ nowUs: () => time.nowUs(), nap: (ms) => time.pass(ms), gatherUs },
        watch,
      });
    });

    it('wakes once in the time for gathering, for all that is due by then', async () => {
      due = Array.from({ length: 100 }, (_, at) => 10_000 + 50 * at);
      loop.begin(driven);
      await time.to(20);
      assert.equal(done.length, 100);
      for (const { dueUs, atUs } of done)
        assert.ok(
          atUs >= dueUs && atUs - dueUs <= gatherUs + 50,
          `${dueUs} was handled at ${atUs}`,
        );
      // 100 messages in 5 ms, five at most in each time for gathering.
      assert.ok(new Set(done.map(({ atUs }) => atUs)).size <= 27);
    });

    it('is as exact as ever where less is due', async () => {
      due = [10_000, 10_250, 10_500, 30_000];
      loop.begin(driven);
      await time.to(40);
      for (const { dueUs, atUs } of done) assert.ok(atUs - dueUs <= 60, `${dueUs} at ${atUs}`);
      assert.equal(done.length, 4);
    });

    it('sends earlier after input, which has woken it anyway', () => {
      due = [10_000, 10_050];
      loop.begin(driven);
      time.pass(10);
      loop.inputHandled(time.nowUs());
      time.pass(0.06);
      loop.inputHandled(time.nowUs());
      assert.deepEqual(
        done.map(({ atUs }) => atUs),
        [10_000, 10_060],
      );
    });
  });

  describe('sees for how long it does not read', () => {
    const longest = (): number => Math.max(...turns);

    it('while what came is handled, until it goes round again', async () => {
      loop.begin(driven);
      await time.to(10);
      turns = [];
      // Three connections have something to read at once, and the second one takes long.
      loop.inputHandled(time.nowUs());
      time.pass(1);
      loop.inputHandled(time.nowUs());
      time.pass(30);
      loop.inputHandled(time.nowUs());
      time.pass(2);
      assert.equal(time.nowUs() - loop.unreadSinceUs(time.nowUs()), 33_000);
      await time.to(43);
      assert.equal(Math.round(longest()), 33_000);
      // What comes now may have waited for that; what comes later has not.
      assert.ok(loop.unreadSinceUs(time.nowUs()) <= 10_000);
      await time.to(45);
      assert.equal(loop.unreadSinceUs(time.nowUs()), time.nowUs());
    });

    it('while it sends, and when its timer shows that it was kept from waiting', async () => {
      loop.begin(driven);
      await time.to(10);
      assert.deepEqual(turns, []);
      loop.inputHandled(time.nowUs());
      await time.to(11);
      time.pass(43);
      // The timer was due at 50 ms, and it may be late by itself.
      assert.equal(loop.unreadSinceUs(time.nowUs()), 51_000);
      time.pass(96);
      // So late it is only because something took its time, at some moment after the last input.
      assert.equal(loop.unreadSinceUs(time.nowUs()), 10_000);
      await time.to(151);
      assert.equal(Math.round(longest()), 139_999);
      due = [time.nowUs() + 10_000];
      turns = [];
      const slow: Driven = {
        get nextUs() {
          return driven.nextUs;
        },
        work: () => {
          if (driven.nextUs <= time.nowUs()) time.pass(25);
          return driven.work();
        },
      };
      loop.end();
      loop.begin(slow);
      await time.to(200);
      assert.ok(longest() >= 25_000 && longest() < 25_200, `${longest()}`);
    });

    it('not while it waits for input', async () => {
      due = [1_000_000];
      loop.begin(driven);
      for (let ms = 5; ms < 900; ms += 7) {
        await time.to(ms);
        loop.inputHandled(time.nowUs());
      }
      await time.to(990);
      assert.ok(longest() < 100, `${longest()}`);
    });
  });

  it('does nothing before it has begun, nor when it has ended', async () => {
    due = [1000, 50_000];
    loop.rescheduled();
    loop.inputHandled(2000);
    await time.to(10);
    assert.deepEqual(done, []);
    loop.begin(driven);
    await time.to(20);
    loop.end();
    await time.to(100);
    loop.inputHandled(time.nowUs());
    assert.equal(done.length, 1);
    assert.equal(time.pending, 0);
  });
});
