import { leaveOut, populationsOf, type Population } from '../plan/population';
import { targetOf } from '../plan/targetOf';
import type { FromWorker, ToWorker, WorkerStart } from '../protocol/worker';
import { AccessTokens, type ClientTokens } from '../wire/connect/accessTokens';
import type { HubConnection } from '../wire/hub/clientConnection';
import type { HubMessage } from '../wire/hub/hubMessage';
import { shownText } from '../wire/connect/connectFailure';
import { IssuedTokens } from '../wire/connect/issuedTokens';
import { RestCalls } from '../wire/rest/restCalls';
import { PersistentSends } from '../wire/service/persistentSends';
import type { ServiceFailure } from '../wire/rest/serviceFailure';
import { ConnectionLife } from './connect/connectionLife';
import { Connections, type WorkerSockets } from './connect/connections';
import { EntrySenders } from './send/entrySenders';
import { GroupMover } from './prepare/groupMover';
import { PacingLoop } from './send/pacingLoop';
import { Preparation } from './prepare/preparation';
import { Receiver } from './receive/receiver';
import { Recorder, toldApart } from './receive/recorder';
import { SelfCheck } from './calibrate/selfCheck';
import type { Membership } from './prepare/membership';

const tickUs = 1_000_000;

/** What a worker finds where it runs. */
export interface WorkerSurroundings extends WorkerSockets {
  /** Sleeps outside of the event loop. */
  readonly nap: (ms: number) => void;
  /** Joins the other workers of the run; `nowUs` is run time. */
  readonly membership: (populations: readonly Population[], nowUs: () => number) => Membership;
}

/** Borders of the step that is going on, run time. */
interface StepWindow {
  readonly index: number;
  readonly measureUs: number;
  readonly endUs: number;
}

/**
 * One worker's part of a run, callable without a thread: takes orders, posts facts. It owns its
 * connections, sends what is due on them and counts what comes back.
 */
export class WorkerRun {
  private readonly populations: readonly Population[];
  private readonly recorder: Recorder;
  private readonly selfCheck = new SelfCheck();
  private readonly members: Membership;
  private readonly connections: Connections;
  private readonly preparation: Preparation;
  private readonly receiver: Receiver;
  private readonly senders: EntrySenders;
  /** One for each entry whose groups connections move in and out of. */
  private readonly movers: readonly GroupMover[];
  private readonly loop: PacingLoop;
  private readonly life: ConnectionLife | undefined;
  private readonly tokens: AccessTokens | undefined;
  private readonly rest: RestCalls | undefined;
  private readonly persistent: PersistentSends | undefined;
  private nextTick: number;
  private window: StepWindow | undefined;
  /** Step whose measured time is going on; 0 outside. */
  private measuring = 0;
  /** Run time of the window's next border. */
  private borderUs = Infinity;

  constructor(
    private readonly start: WorkerStart,
    private readonly surroundings: WorkerSurroundings,
    private readonly post: (fact: FromWorker) => void,
  ) {
    const { plan, endpoint } = start;
    const targets = toldApart(endpoint.urls.length);
    const target = (index: number): number => targetOf(plan, targets, index);
    this.recorder = new Recorder(targets, target, plan.entries.length);
    this.populations = populationsOf(plan);
    this.members = surroundings.membership(this.populations, () => this.nowUs());
    const service = accessOf(
      start,
      ({ errorClass, text }) => {
        this.recorder.error(errorClass, text);
      },
      () => this.loop.wake(),
    );
    this.tokens = service?.tokens;
    this.rest = service?.rest;
    this.persistent = service?.persistent;
    this.preparation = new Preparation(plan, this.populations, this.members, this.joinFor());
    this.connections = new Connections(start, surroundings, this.recorder, service?.clientTokens, {
      received: (connection, buffer, from, to, frameBytes) => {
        const nowUs = this.nowUs();
        this.receiver.received(connection, buffer, from, to, frameBytes, nowUs);
        this.loop.inputHandled(nowUs);
      },
      lost: (connection) => {
        this.takesNoPart(connection);
        this.life?.lost(connection.index);
      },
      failed: (index) => this.life?.lost(index),
    });
    this.life = this.lifeOf(start);
    this.receiver = new Receiver(plan, this.populations, this.recorder, {
      isMember: (index, sentUs, othersMove) => this.members.wasMember(index, sentUs, othersMove),
      arrived: (entry, index, source, sequence) => {
        this.senders.arrived(entry, index, source, sequence);
      },
      other: (connection, message) => {
        this.handleOther(connection, message);
      },
      ownItem: (...item) => this.senders.itemCame(...item),
    });
    this.senders = new EntrySenders(plan, start.worker, this.populations, {
      version: () => this.members.version(),
      connection: (index) =>
        this.members.isOpen(index) ? this.connections.openAt(index) : undefined,
      isOpen: (index) => this.members.isOpen(index),
      members: (group) => this.members.count(group),
      idOf: (index) => this.members.idOf(index),
      framed: start.endpoint.transport === undefined,
      ...(this.rest !== undefined && { rest: this.rest }),
      ...(this.persistent !== undefined && { persistent: this.persistent }),
      nowUs: () => this.nowUs(),
      error: (errorClass, text) => {
        this.recorder.error(errorClass, text);
      },
      delivered: (...delivery) => {
        this.recorder.delivered(...delivery);
      },
    });
    this.movers = this.moversOf(start);
    this.nextTick = Math.floor(this.nowUs() / tickUs) + 1;
    this.loop = new PacingLoop({
      nowUs: () => this.nowUs(),
      nextUs: () =>
        Math.min(this.senders.nextUs, this.nextMoveUs(), this.borderUs, this.nextTick * tickUs),
      work: () => this.work(),
      nap: surroundings.nap,
      delayed: (us) => {
        this.selfCheck.delayed(us);
      },
      napped: (us) => {
        this.selfCheck.napped(us);
      },
    });
  }

  /** Carries out an order. */
  async handle(order: ToWorker): Promise<void> {
    switch (order.type) {
      case 'connect':
        this.loop.begin();
        // The server connection goes first: clients may take all that the size of the service has.
        await Promise.all([
          this.persistent?.open(),
          this.connections.open(order.atUs, order.from, order.to),
        ]);
        this.post({ type: 'connected' });
        break;
      case 'prepare':
        await this.prepare(order.step);
        this.post({ type: 'prepared' });
        break;
      case 'identify':
        this.populations.forEach(({ fixedTargets }, position) => {
          // A service knows users by their names, a hub connections by the ids that they have told.
          const byName = this.start.plan.entries[position]!.run.via !== undefined;
          const { members } = this;
          if (fixedTargets !== undefined)
            leaveOut(fixedTargets, (index) =>
              byName ? members.isOpen(index) : members.idOf(index) !== undefined,
            );
        });
        break;
      case 'step':
        this.beginStep(order.index, order.atUs);
        break;
      case 'drain':
        this.recorder.steps[order.index]!.lateFromUs = order.untilUs;
        break;
      case 'drained':
        this.recorder.steps[order.index]!.drained = true;
        this.receiver.tellWrongNames();
        break;
      case 'halt':
        this.life?.stop();
        this.senders.halt();
        for (const mover of this.movers) mover.halt();
        this.sample(false);
        this.borderUs = Infinity;
        this.measuring = 0;
        break;
      case 'flush':
        this.sample(false, order.flush);
        break;
      case 'renewed':
        this.tokens?.renew(order.pass);
        break;
      case 'close':
        this.close();
        break;
    }
  }

  /** Lets the open connections take part, but for those in their last moment, whose messages would be lost. */
  private async prepare(step: number): Promise<void> {
    const { connections, life, members, preparation } = this;
    const leaves = (connection: HubConnection): boolean => life?.isLeaving(connection) === true;
    await preparation.run(
      connections.opened.filter((connection) => !leaves(connection)),
      step,
    );
    for (const connection of connections.opened) {
      const { index } = connection;
      if (leaves(connection)) members.leave(index);
      else if (members.isOpen(index)) life?.joined(index);
    }
  }

  /** Clients of Azure SignalR Service have no hub to ask when there is no app server; plain ones cannot ask. */
  private joinFor(): ConstructorParameters<typeof Preparation>[3] {
    const { rest } = this;
    const { endpoint, plan } = this.start;
    const asks = endpoint.service?.kind === 'webpubsub' && plan.protocol !== 'webpubsubNone';
    if (rest === undefined || asks) return undefined;
    return (index, group) => rest.changeGroup('PUT', index, group);
  }

  private lifeOf({ plan, worker }: WorkerStart): ConnectionLife | undefined {
    if (plan.life === undefined) return undefined;
    const { connections, members, preparation } = this;
    return new ConnectionLife(plan, plan.life, worker, {
      nowUs: () => this.nowUs(),
      opened: () => connections.opened,
      openAt: (index) => connections.openAt(index),
      reopen: (index, signal) => connections.reopen(index, signal),
      prepare: (connection) => preparation.runOne(connection),
      leave: (index) => members.leave(index),
      close: (connection) => {
        this.takesNoPart(connection);
        connections.closeOne(connection);
      },
      failed: (index, failure) => connections.failedAgain(index, failure),
    });
  }

  /** The connection is gone, or about to go. */
  private takesNoPart(connection: HubConnection): void {
    const { index } = connection;
    this.members.leave(index);
    this.preparation.lost(connection);
    for (const mover of this.movers) mover.lost(index);
    this.senders.lost(index);
  }

  private moversOf({ plan, worker }: WorkerStart): GroupMover[] {
    return this.populations.flatMap(({ othersMove }, position) => {
      if (!othersMove) return [];
      const mover = new GroupMover(plan, position, worker, this.populations, {
        nowUs: () => this.nowUs(),
        openAt: (index) =>
          this.members.isOpen(index) ? this.connections.openAt(index) : undefined,
        invoke: (connection, method, group) => this.preparation.invoke(connection, method, [group]),
        failed: (errorClass, text) => this.recorder.error(errorClass, text),
      });
      return [mover];
    });
  }

  private nextMoveUs(): number {
    let nextUs = Infinity;
    for (const mover of this.movers) nextUs = Math.min(nextUs, mover.nextUs);
    return nextUs;
  }

  private nowUs(): number {
    return this.surroundings.clock.nowUs() - this.start.originUs;
  }

  private handleOther(connection: HubConnection, message: HubMessage): void {
    if (message.type === 6) this.recorder.pingsReceived += 1;
    else if (message.type === 7) connection.closeReason = shownText(message.error ?? '');
    else if (message.type === 3 && this.senders.completed(connection, message, this.nowUs()))
      return;
    else if (this.preparation.handle(connection, message)) return;
    else if (message.type === 3 && typeof message.error === 'string')
      this.recorder.error('invocation', shownText(message.error));
  }

  private beginStep(index: number, atUs: number): void {
    const step = this.start.plan.steps[index - 1]!;
    const measureUs = atUs + step.warmupMs * 1000;
    this.window = { index, measureUs, endUs: measureUs + step.measureMs * 1000 };
    this.borderUs = measureUs;
    this.life?.beginStep(measureUs, this.window.endUs);
    const recorder = this.recorder.beginStep(index);
    recorder.warming = step.warmupMs > 0;
    this.senders.begin(step, atUs, recorder);
    for (const mover of this.movers) mover.begin(step, atUs, recorder);
    this.loop.wake();
  }

  /** Everything that is due now; see {@link PacingLoop}. */
  private work(): boolean {
    const nowUs = this.nowUs();
    if (nowUs >= this.borderUs) this.crossBorder();
    let moreMoves = false;
    for (const mover of this.movers) moreMoves = mover.pump() || moreMoves;
    const state = this.senders.pump();
    if (state === 'done') this.post({ type: 'stepSent', index: this.recorder.current!.step });
    if (nowUs >= this.nextTick * tickUs) {
      this.sample(true);
      this.connections.keepAlive(this.nextTick);
      this.persistent?.tick();
      this.nextTick = Math.floor(nowUs / tickUs) + 1;
    }
    return state === 'more' || moreMoves;
  }

  /** Into the measured time of the step, or out of it: no sample spans the border. */
  private crossBorder(): void {
    const { index, measureUs, endUs } = this.window!;
    this.sample(false);
    const entering = this.borderUs === measureUs && this.measuring !== index;
    if (entering) this.recorder.current!.warming = false;
    this.measuring = entering ? index : 0;
    this.borderUs = entering ? endUs : Infinity;
  }

  private sample(due: boolean, flush?: number): void {
    const generator = this.selfCheck.take(this.measuring);
    const atUs = this.nowUs();
    const sample = { ...this.recorder.take(this.start.worker, this.nextTick, generator), atUs };
    this.post({ type: 'sampled', sample, due, ...(flush === undefined ? {} : { flush }) });
  }

  private close(): void {
    this.receiver.tellWrongNames();
    this.life?.stop();
    if (this.life !== undefined) this.connections.sumUpLives();
    this.connections.close();
    this.rest?.close();
    this.persistent?.close();
    this.sample(false);
    this.loop.end();
    this.selfCheck.dispose();
    this.post({ type: 'closed' });
  }
}

/** What lets a worker's connections and messages in at a service of Azure. */
interface WorkerAccess {
  readonly tokens: AccessTokens;
  readonly clientTokens: ClientTokens;
  readonly rest: RestCalls;
  readonly persistent?: PersistentSends;
}

function accessOf(
  { plan, endpoint }: WorkerStart,
  told: (failure: ServiceFailure) => void,
  freed: () => void,
): WorkerAccess | undefined {
  const { service } = endpoint;
  if (service === undefined) return undefined;
  const tokens = new AccessTokens(service, plan.runId);
  const rest = new RestCalls(endpoint, service, tokens, told, freed);
  const areIssued = service.kind === 'webpubsub' && 'bearer' in service;
  const persists = plan.entries.some((entry) => entry.run.via === 'persistent');
  return {
    tokens,
    clientTokens: areIssued ? new IssuedTokens(rest) : tokens,
    rest,
    ...(persists && { persistent: new PersistentSends(endpoint, service, tokens, told) }),
  };
}
