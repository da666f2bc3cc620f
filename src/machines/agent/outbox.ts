import type { Bus } from '../bus/bus';
import { encode, type AgentFact, type NumberedFact } from '../messages';

/** What the bus has not acknowledged is kept so long and no longer. */
const keptMs = 10 * 60_000;
const retryMs = 500;
/** Facts that may be on their way to the bus at once. */
const inFlight = 32;
/** Of what waits for the bus, characters: a bus that is away must not take the machine's memory. */
const mostWaiting = 256 * 1024 * 1024;

interface Waiting {
  readonly number: number;
  readonly text: string;
  readonly sinceMs: number;
}

/** Facts on their way to the coordinator: numbered, and sent again with the same number until the bus has them. */
export class Outbox {
  /** Number of the last fact. */
  last = 0;
  private readonly waiting: Waiting[] = [];
  private waitingLength = 0;
  private sending = 0;
  private isOver = false;
  private settled: (() => void)[] = [];

  /** @param lost called once, when facts were given up: the run cannot be complete any more */
  constructor(
    private readonly bus: Bus,
    private readonly subject: string,
    private readonly epoch: string,
    private readonly now: () => Pick<NumberedFact, 'open' | 'cpuUs'>,
    private readonly lost: () => void,
    /** Takes out what must not leave the machine. */
    private readonly hide: (text: string) => string = (text) => text,
  ) {}

  put(said: AgentFact): void {
    if (this.isOver) return;
    const number = (this.last += 1);
    const fact: NumberedFact = { epoch: this.epoch, number, ...this.now(), said };
    const text = this.hide(encode(fact));
    this.waiting.push({ number: fact.number, text, sinceMs: performance.now() });
    this.waitingLength += text.length;
    if (this.waitingLength > mostWaiting) this.giveUp();
    else this.pump();
  }

  /** Settles when the bus has everything, or when the time is over. */
  async empty(withinMs: number): Promise<boolean> {
    if (this.waiting.length === 0 && this.sending === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([late, new Promise<void>((resolve) => this.settled.push(resolve))]);
    clearTimeout(timer);
    return this.waiting.length === 0 && this.sending === 0 && !this.isOver;
  }

  private pump(): void {
    while (this.sending < inFlight) {
      const next = this.waiting.shift();
      if (next === undefined) break;
      this.waitingLength -= next.text.length;
      this.sending += 1;
      void this.send(next).finally(() => {
        this.sending -= 1;
        this.pump();
      });
    }
    if (this.waiting.length > 0 || this.sending > 0) return;
    for (const resolve of this.settled.splice(0)) resolve();
  }

  private async send({ number, text, sinceMs }: Waiting): Promise<void> {
    while (!this.isOver) {
      try {
        await this.bus.append(this.subject, text, `${this.epoch}.${number}`);
        return;
      } catch {
        if (performance.now() - sinceMs > keptMs) this.giveUp();
        else await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  private giveUp(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.waiting.length = 0;
    this.lost();
    for (const resolve of this.settled.splice(0)) resolve();
  }
}
