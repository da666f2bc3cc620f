import type { EntrySender } from '../../src/engine/send/entrySender';
import { PacingLoop } from '../../src/engine/send/pacingLoop';
import { VirtualTime } from './virtualTime';

/** Virtual time on which the pacing loop of a worker drives what sends, and peers of the test answer in between. */
export class PacedTime extends VirtualTime {
  private readonly loop = new PacingLoop({
    nowUs: () => this.nowUs(),
    // Input that comes meanwhile is seen at its time, so that what follows from it is exact.
    nap: (ms) => this.pass(Math.min(ms, this.untilNextMs)),
    watch: { delayed: () => undefined, napped: () => undefined, turned: () => undefined },
  });

  /** Drives it until then, and nothing after that. @param pumped learns of each of its turns how that ended */
  drive(
    sender: Pick<EntrySender, 'nextUs' | 'pump'>,
    untilUs: number,
    pumped: (state: ReturnType<EntrySender['pump']>) => void,
  ): void {
    const work = (): boolean => {
      const state = sender.pump();
      pumped(state);
      return state === 'more';
    };
    this.install();
    try {
      this.loop.begin({
        get nextUs() {
          return sender.nextUs;
        },
        work,
      });
      this.runTo(untilUs);
    } finally {
      this.loop.end();
      this.restore();
    }
  }

  readonly inputHandled = (): void => this.loop.inputHandled(this.nowUs());
}
