import { inBackground, type Disposable } from '../../base/async';
import {
  DeliverPolicy,
  jetstream,
  JetStreamApiError,
  jetstreamManager,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import {
  connect,
  nanos,
  PermissionViolationError,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { pause } from '../../engine/pause';
import { allLogsSubject, inboxPrefix, streamName } from '../messages';
import { BusError, hideUrlPassword, type Bus, type Follower, type Following } from './bus';

/** Source: "JetStream API error codes" of nats-server, `JSStreamWrongLastSequenceErrF`, `JSStreamNotFoundErr`. */
const wrongLastSequence = 10_071;
const noSuchStream = 10_059;
const duplicateWindowMs = 10 * 60_000;
const logAgeMs = 24 * 3_600_000;
const connectTimeoutMs = 10_000;
const answerTimeoutMs = 5000;
const reconnectWaitMs = 500;
const mostRefusals = 10;
const isWord = /^[\w-]+$/;

export interface BusAddress {
  /** `nats://host:port`, or `tls://…`; several with commas between them. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  readonly ca?: string | undefined;
  readonly name: string;
  /** Called where no caller waits for what fails. */
  readonly warn?: ((text: string) => void) | undefined;
}

type BusErrorOf = (message: string, cause: unknown) => Error;

const usualError: BusErrorOf = (message, cause) => new BusError(message, cause);

/** @throws what `errorOf` makes of a message without the password; so do the methods of the bus */
export async function connectNats(address: BusAddress, errorOf = usualError): Promise<Bus> {
  const servers = address.url.split(',').map((each) => each.trim());
  // The library ignores the scheme: with these options it speaks to no server without TLS.
  const needsTls = address.ca !== undefined || servers.some((each) => /^tls:/i.test(each));
  const options: NodeConnectionOptions = {
    servers,
    name: address.name,
    timeout: connectTimeoutMs,
    // Reconnects for ever: a run ends by its own limits.
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWaitMs,
    ...(address.user !== undefined && { user: address.user, pass: address.password ?? '' }),
    ...(isWord.test(address.user ?? '') && { inboxPrefix: inboxPrefix(address.user!) }),
    ...(address.token !== undefined && { token: address.token }),
    ...(needsTls && { tls: { ...(address.ca !== undefined && { ca: address.ca }) } }),
  };
  const shown = servers.map(hideUrlPassword).join(', ');
  try {
    const connection = await connect(options);
    const manager = await jetstreamManager(connection, { timeout: answerTimeoutMs }).catch(
      async (error: unknown) => {
        await connection.close();
        throw error;
      },
    );
    return new NatsBus(connection, manager, address.warn, errorOf);
  } catch (error) {
    const why = whyOf(error);
    const hint = /jetstream/i.test(why) ? ' Start nats-server with --jetstream.' : '';
    const text = `The bus at ${shown} cannot be used: ${why}.${hint}`;
    throw errorOf(text.replace('..', '.'), error);
  }
}

function whyOf(error: unknown): string {
  const violation = violationIn(error);
  if (violation !== undefined) return refusalWords(violation);
  return error instanceof Error ? error.message : String(error);
}

function violationIn(error: unknown): PermissionViolationError | undefined {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof PermissionViolationError) return each;
  return undefined;
}

const refusalWords = ({ operation, subject }: PermissionViolationError): string =>
  `its user may not ${operation === 'publish' ? 'write to' : 'read'} ${subject}; docs/machines.md lists the rights that it needs`;

/** NATS with JetStream: a log is a stream, a claim the first message of its subject. */
class NatsBus implements Bus {
  isConnected = true;
  private readonly streams: JetStreamClient;
  private readonly opened = new Map<string, OpenedLog>();
  private readonly readers = new Set<LogReader>();
  private readonly refusals = new Set<string>();

  constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly warn: BusAddress['warn'],
    private readonly errorOf: BusErrorOf,
  ) {
    this.streams = jetstream(connection, { timeout: answerTimeoutMs });
    inBackground(this.watchLink(), (error) =>
      this.warn?.(this.failed('say any more whether it is there', error).message),
    );
  }

  private async watchLink(): Promise<void> {
    for await (const status of this.connection.status()) {
      const { type } = status;
      if (type === 'error') this.noteRefusal(status.error);
      else if (type === 'disconnect') {
        if (this.isConnected)
          this.warn?.('The link to the bus is lost; what is to be said is kept until it is back.');
        this.isConnected = false;
      } else if (type === 'reconnect') {
        if (!this.isConnected) this.warn?.('The bus is back.');
        this.isConnected = true;
        for (const name of this.opened.keys())
          inBackground(this.persist(() => this.openAgain(name)));
        for (const reader of this.readers) inBackground(this.persist(() => reader.again()));
      }
    }
  }

  private noteRefusal(error: Error): void {
    const violation = violationIn(error);
    if (violation === undefined) return;
    const words = refusalWords(violation);
    setImmediate(() => {
      if (this.refusals.has(words) || this.refusals.size >= mostRefusals) return;
      this.refusals.add(words);
      this.warn?.(`The bus refuses something: ${words}.`);
    });
  }

  /** Retries until it works or the link is down; then the next reconnect tries again. */
  private async persist(work: () => Promise<unknown>): Promise<void> {
    while (this.isConnected && !this.connection.isClosed()) {
      try {
        await work();
        return;
      } catch {
        await pause(reconnectWaitMs);
      }
    }
  }

  private async openAgain(name: string): Promise<void> {
    const log = this.opened.get(name);
    if (log === undefined) return;
    const madeAt = await this.make(name);
    if (madeAt === log.madeAt || !this.opened.has(name)) return;
    this.opened.set(name, { ...log, madeAt });
    log.renewed();
  }

  /** The library uses the TLS that a server offers. */
  get isEncrypted(): boolean {
    const { info } = this.connection;
    return info?.tls_required === true || info?.tls_available === true;
  }

  get requiresKey(): boolean {
    return this.connection.info?.auth_required === true;
  }

  async ask(subject: string, value: string, withinMs: number): Promise<string | undefined> {
    try {
      return (await this.connection.request(subject, value, { timeout: withinMs })).string();
    } catch {
      return undefined;
    }
  }

  answer(subject: string, reply: (value: string) => string | undefined): Disposable {
    const subscription = this.connection.subscribe(subject, {
      callback: (error, message) => {
        const said = error === null ? reply(message.string()) : undefined;
        if (said !== undefined) message.respond(said);
      },
    });
    return { dispose: () => subscription.unsubscribe() };
  }

  say(subject: string, value: string): void {
    if (this.isConnected && !this.connection.isClosed()) this.connection.publish(subject, value);
  }

  hear(subject: string, heard: (value: string, subject: string) => void): Disposable {
    const subscription = this.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) heard(message.string(), message.subject);
      },
    });
    return { dispose: () => subscription.unsubscribe() };
  }

  async openLog(name: string, renewed: () => void = () => undefined): Promise<void> {
    const madeAt = await this.sayWhy('make the log of the run', () => this.make(name));
    this.opened.set(name, { madeAt, renewed });
    this.sweep().catch(() => undefined);
  }

  /** Deletes old empty logs: values expire, an empty stream does not. */
  private async sweep(): Promise<void> {
    const { streams } = this.manager;
    for await (const { config, created, state } of streams.list(allLogsSubject)) {
      const isOld = Date.now() - Date.parse(created) > logAgeMs;
      const isOwn = [...this.opened.keys()].some((log) => streamName(log) === config.name);
      if (isOld && !isOwn && state.messages === 0) await streams.delete(config.name);
    }
  }

  private async make(name: string): Promise<string> {
    const { created } = await this.manager.streams.add({
      name: streamName(name),
      subjects: [`${name}.>`],
      max_age: nanos(logAgeMs),
      // No discarding: a full bus refuses, and the entry is offered again.
      allow_direct: true,
      duplicate_window: nanos(duplicateWindowMs),
    });
    return created;
  }

  async hasLog(name: string): Promise<boolean> {
    try {
      await this.manager.streams.info(streamName(name));
      return true;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === noSuchStream) return false;
      throw this.failed('look for the log of the run', error);
    }
  }

  async removeLog(name: string): Promise<void> {
    this.opened.delete(name);
    try {
      await this.manager.streams.delete(streamName(name));
    } catch (error) {
      if (!(error instanceof JetStreamApiError && error.code === noSuchStream))
        throw this.failed('remove the log of the run', error);
    }
  }

  async append(subject: string, value: string, id: string): Promise<void> {
    await this.sayWhy('keep what was said', () =>
      this.streams.publish(subject, value, { msgID: id, timeout: answerTimeoutMs }),
    );
  }

  async claim(subject: string, value: string): Promise<boolean> {
    try {
      await this.streams.publish(subject, value, {
        expect: { lastSubjectSequence: 0 },
        timeout: answerTimeoutMs,
      });
      return true;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === wrongLastSequence) return false;
      throw this.failed('take a place in the run', error);
    }
  }

  async read(log: string, subject: string): Promise<string | undefined> {
    try {
      const asked = `$JS.API.DIRECT.GET.${streamName(log)}.${subject}`;
      const found = await this.connection.request(asked, '', { timeout: answerTimeoutMs });
      return (found.headers?.code ?? 0) > 0 ? undefined : found.string();
    } catch {
      return undefined;
    }
  }

  async follow(log: string, subject: string, seen: Follower): Promise<Following> {
    const { streams, manager, readers } = this;
    const over = (ended: LogReader): void => {
      readers.delete(ended);
    };
    const reader = new LogReader({
      streams,
      manager,
      stream: streamName(log),
      subject,
      seen,
      over,
    });
    await this.sayWhy('read the log of the run', () => reader.again());
    readers.add(reader);
    return reader;
  }

  async close(): Promise<void> {
    if (this.connection.isClosed()) return;
    // After the flush everything has left, unless the bus is gone.
    await Promise.race([
      this.connection.flush().catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, answerTimeoutMs).unref()),
    ]);
    await this.connection.close();
  }

  private async sayWhy<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.failed(what, error);
    }
  }

  private failed(what: string, error: unknown): Error {
    const why = whyOf(error);
    this.refusals.add(why);
    return this.errorOf(`The bus did not ${what}: ${why}.`, error);
  }
}

interface OpenedLog {
  readonly madeAt: string;
  readonly renewed: () => void;
}

interface Reading {
  readonly streams: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly subject: string;
  readonly seen: Follower;
  readonly over: (reader: LogReader) => void;
}

/** Reads a stream in order, each message once, over several readers; a stream that was made again from its start. */
class LogReader implements Following {
  private messages: ConsumerMessages | undefined;
  private lastSequence = 0;
  private madeAt = '';
  /** Number of the current reader: messages of earlier ones are ignored. */
  private count = 0;
  private isOver = false;

  constructor(private readonly reading: Reading) {}

  async again(): Promise<void> {
    const { streams, manager, stream, subject, seen } = this.reading;
    const { created } = await manager.streams.info(stream);
    const isNew = created !== this.madeAt;
    const consumer = await streams.consumers.get(stream, {
      filter_subjects: subject,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: isNew ? 1 : this.lastSequence + 1,
    });
    const own = (this.count += 1);
    if (isNew) this.lastSequence = 0;
    this.madeAt = created;
    const messages = await consumer.consume({
      callback: (message) => {
        if (this.isOver || own !== this.count || message.seq <= this.lastSequence) return;
        this.lastSequence = message.seq;
        seen(message.string(), message.subject);
      },
    });
    const isCurrent = own === this.count && !this.isOver;
    const done = isCurrent ? this.messages : messages;
    if (isCurrent) this.messages = messages;
    await done?.close();
  }

  dispose(): void {
    this.isOver = true;
    this.reading.over(this);
    inBackground(this.messages?.close());
  }
}
