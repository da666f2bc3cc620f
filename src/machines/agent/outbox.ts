import type { Bus } from '../bus/bus';
import { LogWriter } from '../bus/logWriter';
import { encode, type AgentFact, type NumberedFact } from '../messages';

/** What the bus has not acknowledged is kept so long and no longer. */
const keptMs = 10 * 60_000;
/** Facts that may be on their way to the bus at once. */
const inFlight = 32;
/** What the coordinator has not taken so long after the bus had it may be lost, with the file of the bus. */
const againMs = 5000;

/** Facts on their way to the coordinator: numbered, and kept until it has taken them. */
export class Outbox {
  private readonly writer: LogWriter;

  /** @param lost called once, when facts were given up: the run cannot be complete any more */
  constructor(
    bus: Bus,
    subject: string,
    private readonly epoch: string,
    private readonly now: () => Pick<NumberedFact, 'open' | 'cpuUs'>,
    lost: () => void,
    /** Takes out what must not leave the machine. */
    private readonly hide: (text: string) => string = (text) => text,
  ) {
    this.writer = new LogWriter(bus, subject, epoch, { inFlight, keptMs, lost });
  }

  /** Number of the last fact. */
  get last(): number {
    return this.writer.last;
  }

  put(said: AgentFact): void {
    this.writer.add((number) => {
      const fact: NumberedFact = { epoch: this.epoch, number, ...this.now(), said };
      return this.hide(encode(fact));
    }, true);
  }

  /** The coordinator has all up to this one, and lacks what was acknowledged long before. */
  taken(number: number): void {
    this.writer.taken(number);
    this.writer.again(againMs);
  }

  /** Whether the bus has everything; settles when it has, or when the time is over. */
  empty(withinMs: number): Promise<boolean> {
    return this.writer.empty(withinMs);
  }

  /** The same for the coordinator. */
  allTaken(withinMs: number): Promise<boolean> {
    return this.writer.allTaken(withinMs);
  }

  stop(): void {
    this.writer.stop();
  }
}
