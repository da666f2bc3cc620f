import type { Disposable } from '../../../src/base/async';
import { BusError, type Bus, type Follower, type Following } from '../../../src/agents/bus/bus';

interface Kept {
  readonly subject: string;
  readonly value: string;
}

/** A bus in memory; each link to it can be cut. */
export class MemoryBus {
  readonly log: Kept[] = [];
  private readonly ids = new Set<string>();
  private readonly listeners = new Set<(kept: Kept) => void>();
  private readonly hearers = new Set<(kept: Kept) => void>();
  readonly renewing = new Set<() => void>();
  renewals = 0;
  private readonly answers = new Map<string, (value: string) => string | undefined>();

  link(): MemoryLink {
    return new MemoryLink(this);
  }

  /** As a bus that comes back without its file. */
  lose(): void {
    this.log.length = 0;
    this.ids.clear();
    this.renewals += 1;
    for (const renewed of this.renewing) renewed();
  }

  append(kept: Kept, id: string): void {
    if (this.ids.has(id)) return;
    this.ids.add(id);
    this.log.push(kept);
    for (const listener of [...this.listeners]) listener(kept);
    queueMicrotask(() => this.say(kept));
  }

  say(kept: Kept): void {
    for (const hearer of [...this.hearers]) hearer(kept);
  }

  hear(hearer: (kept: Kept) => void): Disposable {
    this.hearers.add(hearer);
    return { dispose: () => this.hearers.delete(hearer) };
  }

  listen(listener: (kept: Kept) => void): Disposable {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  answer(subject: string, reply: (value: string) => string | undefined): Disposable {
    this.answers.set(subject, reply);
    return { dispose: () => this.answers.delete(subject) };
  }

  ask(subject: string, value: string): string | undefined {
    return this.answers.get(subject)?.(value);
  }
}

const matches = (pattern: string, subject: string): boolean =>
  pattern.endsWith('>')
    ? subject.startsWith(pattern.slice(0, -1))
    : pattern.endsWith('*')
      ? subject.startsWith(pattern.slice(0, -1)) && !subject.slice(pattern.length - 1).includes('.')
      : subject === pattern;

export class MemoryLink implements Bus {
  isConnected = true;
  readonly isEncrypted = false;
  readonly requiresKey = true;
  /** How often it was asked to keep something, in vain included. */
  tries = 0;

  constructor(private readonly bus: MemoryBus) {}

  ask(subject: string, value: string): Promise<string | undefined> {
    return Promise.resolve(this.isConnected ? this.bus.ask(subject, value) : undefined);
  }

  answer(subject: string, reply: (value: string) => string | undefined): Disposable {
    return this.bus.answer(subject, (value) => (this.isConnected ? reply(value) : undefined));
  }

  say(subject: string, value: string): void {
    if (this.isConnected) this.bus.say({ subject, value });
  }

  hear(pattern: string, heard: (value: string, subject: string) => void): Disposable {
    return this.bus.hear(({ subject, value }) => {
      if (this.isConnected && matches(pattern, subject)) heard(value, subject);
    });
  }

  openLog(_name: string, renewed: () => void = () => undefined): Promise<void> {
    this.bus.renewing.add(renewed);
    return Promise.resolve();
  }

  hasLog(): Promise<boolean> {
    return Promise.resolve(this.bus.log.length > 0);
  }

  removeLog(): Promise<void> {
    this.bus.log.length = 0;
    return Promise.resolve();
  }

  append(subject: string, value: string, id: string): Promise<void> {
    this.tries += 1;
    if (!this.isConnected) return Promise.reject(new BusError('The bus is away.'));
    this.bus.append({ subject, value }, id);
    return Promise.resolve();
  }

  claim(subject: string, value: string): Promise<boolean> {
    this.tries += 1;
    if (!this.isConnected) return Promise.reject(new BusError('The bus is away.'));
    if (this.bus.log.some((kept) => kept.subject === subject)) return Promise.resolve(false);
    this.bus.append({ subject, value }, subject);
    return Promise.resolve(true);
  }

  read(_log: string, wanted: string): Promise<string | undefined> {
    const found = this.bus.log.filter(({ subject }) => subject === wanted).at(-1);
    return Promise.resolve(this.isConnected ? found?.value : undefined);
  }

  follow(_log: string, pattern: string, seen: Follower): Promise<Following> {
    let read = 0;
    let { renewals } = this.bus;
    const readOn = (): void => {
      if (renewals !== this.bus.renewals) read = 0;
      ({ renewals } = this.bus);
      while (this.isConnected && read < this.bus.log.length) {
        const { subject, value } = this.bus.log[read++]!;
        if (matches(pattern, subject)) seen(value, subject);
      }
    };
    const subscription = this.bus.listen(() => queueMicrotask(readOn));
    queueMicrotask(readOn);
    return Promise.resolve({
      dispose: () => subscription.dispose(),
      again: () => {
        readOn();
        return Promise.resolve();
      },
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
