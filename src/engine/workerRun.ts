import { isHubProtocol } from '../base/message';
import { services } from '../base/serviceTraits';
import { skipAbsentTargets, populationsOf, type Population } from '../plan/population';
import { agentOfWorker, agentCount, hasSeveralClocks, type PlanStep } from '../plan/plan';
import { urlIndexOf } from '../plan/draws';
import type { FromWorker, ToWorker, WorkerStart } from '../messages/worker';
import { listCalls, stepsIn } from '../usecases/sessionSteps';
import { permissionsOf } from '../usecases/useCase';
import { AccessTokens, type ClientTokens } from '../wire/connect/accessTokens';
import { codecForProtocol } from '../wire/connect/connectHub';
import { PersonalEndpoints } from '../wire/connect/personalEndpoints';
import type { HubConnection } from '../wire/hub/clientConnection';
import { hubMessageType, type HubMessage } from '../wire/message/hubMessage';
import { shownText } from '../wire/connectFailure';
import { IssuedTokens, RestCalls, type ServiceFailure } from '../wire/rest/restCalls';
import type { WeakServerConnection } from '../wire/service/persistentSends';
import { ConnectionLife } from './connect/connectionLife';
import { Connections, pingTurnUs, type WorkerSockets } from './connect/connections';
import type { ReceivedMessage, SessionParts } from './send/entrySender';
import { EntrySenders } from './send/entrySenders';
import { MessageRows } from './send/messageShape';
import { gatherUs, PacingLoop, SelfCheck, type Driven } from './send/pacingLoop';
import { Preparation } from './prepare/preparation';
import { Receiver } from './receive/receiver';
import { Recorder, countedTargets } from './recorder';
import type { SuspendDetector } from './suspendDetector';
import type { MemberChangeListener, SharedMembers } from './prepare/sharedMembers';
import { MemberChangeLog, RemoteMembers } from './prepare/remoteMembers';
import type { TimeToAllTracker } from './prepare/timeToAllTracker';

const tickUs = 1_000_000;
const noticedUs = 50_000;

export interface WorkerSurroundings extends WorkerSockets {
  readonly nap: (ms: number) => void;
  readonly membership: (
    populations: readonly Population[],
    nowUs: () => number,
    changed?: MemberChangeListener,
  ) => SharedMembers;
  readonly reach?: TimeToAllTracker | undefined;
  readonly rows?: SharedArrayBuffer | undefined;
  readonly suspendDetector?: Pick<SuspendDetector, 'takeUs'> | undefined;
  readonly sessions?: SessionParts | undefined;
  readonly Persistent?: typeof WeakServerConnection | undefined;
}

interface StepWindow {
  readonly index: number;
  readonly measureUs: number;
  readonly endUs: number;
}

/** One worker's part of a run: takes orders, posts facts. Needs no thread. */
export class WorkerRun implements Driven {
  private readonly populations: readonly Population[];
  private readonly recorder: Recorder;
  private readonly selfCheck = new SelfCheck();
  private readonly members: SharedMembers;
  private readonly changes: MemberChangeLog | undefined;
  private readonly elsewhere: RemoteMembers | undefined;
  private readonly connections: Connections;
  private readonly preparation: Preparation;
  private readonly receiver: Receiver;
  private readonly senders: EntrySenders;
  private readonly loop: PacingLoop;
  private readonly life: ConnectionLife | undefined;
  private readonly service: WorkerAccess | undefined;
  private readonly personal: PersonalEndpoints;
  private readonly nowUs: () => number;
  private nextTick: number;
  private nextPingsUs = 0;
  private window: StepWindow | undefined;
  /** Index of the step being measured; 0 outside. */
  private measuring = 0;
  private borderUs = Infinity;

  constructor(
    private readonly start: WorkerStart,
    private readonly surroundings: WorkerSurroundings,
    private readonly post: (fact: FromWorker) => void,
  ) {
    const { plan, endpoint, worker } = start;
    const targets = countedTargets(endpoint.urls.length);
    const target = (index: number): number => urlIndexOf(plan, targets, index);
    const { clock } = surroundings;
    const nowUs = (): number => clock.nowUs() - start.originUs;
    this.nowUs = nowUs;
    const several = agentCount(plan) > 1;
    const calls = plan.entries.map(({ run: { session } }) =>
      session === undefined ? 0 : listCalls(stepsIn(session)).length,
    );
    const clocks = hasSeveralClocks(plan);
    const recorder = new Recorder(targets, target, plan.entries.length, clocks, calls);
    this.recorder = recorder;
    const populations = (this.populations = populationsOf(plan));
    const changes = (this.changes = several ? new MemberChangeLog(populations) : undefined);
    const changed = changes && this.memberChanged;
    const members = (this.members = surroundings.membership(populations, nowUs, changed));
    const elsewhere = several ? new RemoteMembers(plan, worker, populations, nowUs) : undefined;
    this.elsewhere = elsewhere;
    const { nap, reach, codec = codecForProtocol(plan.protocol) } = surroundings;
    const personal = new PersonalEndpoints(endpoint, (index) => groupOf(populations, index));
    this.personal = personal;
    const loop = (this.loop = new PacingLoop({ nowUs, nap, gatherUs, watch: this.selfCheck }));
    recorder.unreadSinceUs = (atUs) => loop.unreadSinceUs(atUs);
    const service = (this.service = accessOf(start, surroundings, recorder, loop));
    const preparation = new Preparation(plan, populations, members, this.joinFor());
    this.preparation = preparation;
    const connection = (index: number): HubConnection | undefined =>
      members.isOpen(index) ? this.connections.at(index) : undefined;
    this.senders = new EntrySenders(plan, worker, populations, {
      members,
      connection,
      framed: endpoint.transport === undefined,
      codec,
      isExchanged: (index) => this.life?.isExchanged(index) === true,
      takesMessages: endpoint.driver === 'sdk',
      sessions: surroundings.sessions,
      ...service?.senders,
      invoke: (...call) => preparation.invoke(...call),
      nowUs,
      recorder,
      reach,
      elsewhere,
      rows: rowsOf(start, personal, surroundings.rows),
    });
    const { senders: streams, handleOther: other } = this;
    const handled = (atUs: number): void => loop.inputHandled(atUs);
    const receiving = { nowUs, members, worker, reach, streams, other, handled, codec };
    const receiver = (this.receiver = new Receiver(plan, populations, recorder, receiving));
    const letIn = { personal, tokens: service?.clientTokens };
    this.connections = new Connections(start, surroundings, recorder, letIn, {
      received: receiver.received,
      message: receiver.message,
      failed: (index) => this.life?.lost(index),
      lost: (one) => {
        this.takesNoPart(one);
        this.life?.lost(one.index, one.mayReconnect);
      },
    });
    this.life = this.lifeOf(start);
    this.nextTick = Math.floor(nowUs() / tickUs) + 1;
  }

  get nextUs(): number {
    return Math.min(this.senders.nextUs, this.borderUs, this.nextTick * tickUs);
  }

  async handle(order: ToWorker): Promise<void> {
    switch (order.type) {
      case 'connect':
        this.loop.begin(this);
        // The server connection first: clients may use up all connections of the service.
        await Promise.all([
          this.service?.senders.persistent?.open(),
          this.connections.openRange(order.atUs, order.from, order.to),
        ]);
        this.post({ type: 'connected' });
        break;
      case 'prepare':
        await this.prepare(order.step);
        this.post({ type: 'prepared' });
        break;
      case 'identify':
        this.populations.forEach(({ fixedTargets }, position) => {
          // Services address users by name, hubs connections by id.
          const byName = this.start.plan.entries[position]!.run.via !== undefined;
          const { members } = this;
          if (fixedTargets !== undefined)
            skipAbsentTargets(fixedTargets, (index) =>
              byName ? members.isOpen(index) : members.idOf(index) !== undefined,
            );
        });
        break;
      case 'shrink':
        this.shrink(order.from, order.to);
        break;
      case 'step':
        this.beginStep(
          order.step ?? this.start.plan.steps[order.index - 1]!,
          order.atUs,
          order.ambiguousUs,
        );
        break;
      case 'drain':
        break;
      case 'drained':
        this.recorder.steps[order.index]!.drained = true;
        this.receiver.reportWrongNames();
        break;
      case 'halt':
        this.life?.stop();
        this.senders.halt();
        this.recorder.current?.cutShort(this.nowUs());
        this.sample(false);
        this.borderUs = Infinity;
        this.measuring = 0;
        this.recorder.endMeasuring(this.nowUs());
        break;
      case 'flush':
        if (this.recorder.current?.isLate(this.nowUs(), -Infinity) === true) await allRead();
        this.sample(false, order.flush);
        break;
      case 'renewed':
        this.service?.tokens.renew(order.pass);
        break;
      case 'identities':
        this.personal.renewed(order.rows);
        break;
      case 'moved':
        this.elsewhere?.heard(order.reports);
        break;
      case 'gone':
        this.elsewhere?.gone(order.agent);
        break;
      case 'close':
        this.close();
        break;
    }
  }

  /** Connections about to close stay out: their messages would be lost. */
  private async prepare(step: number): Promise<void> {
    const { connections, life, members, preparation } = this;
    const leaves = (connection: HubConnection): boolean => life?.isLeaving(connection) === true;
    await preparation.run(
      connections.all().filter((connection) => !leaves(connection)),
      step,
    );
    for (const connection of connections.all()) {
      const { index } = connection;
      if (leaves(connection)) members.leave(index);
      else if (members.isOpen(index)) life?.joined(index);
    }
  }

  private shrink(from: number, to: number): void {
    for (const connection of this.connections.all()) {
      if (connection.index < from || connection.index >= to) continue;
      this.takesNoPart(connection);
      this.connections.closeForNow(connection);
    }
  }

  /** Joins by REST: without an app server no hub can be asked, and plain WebSocket clients cannot ask. */
  private joinFor(): ConstructorParameters<typeof Preparation>[3] {
    const { rest } = this.service?.senders ?? {};
    const { plan } = this.start;
    const asks = !isHubProtocol(plan.protocol) && plan.protocol !== 'webpubsubNone';
    if (rest === undefined || asks) return undefined;
    return (index, group) => rest.changeGroup('PUT', index, group);
  }

  private lifeOf({ plan, worker }: WorkerStart): ConnectionLife | undefined {
    if (plan.life === undefined) return undefined;
    const { connections, members, preparation } = this;
    return new ConnectionLife(plan, plan.life, worker, {
      nowUs: this.nowUs,
      opened: () => connections.all(),
      openAt: (index) => connections.at(index),
      reopen: (index, signal) => connections.reopen(index, signal),
      prepare: (connection) => preparation.runOne(connection),
      leave: (index) => members.leave(index),
      close: (connection) => {
        this.takesNoPart(connection);
        connections.closeOne(connection);
      },
      failed: (index, failure) => connections.reopenFailed(index, failure),
    });
  }

  private takesNoPart(connection: HubConnection): void {
    const { index } = connection;
    this.members.leave(index);
    this.preparation.lost(connection);
    this.senders.lost(index);
  }

  private readonly memberChanged: MemberChangeListener = (change) => {
    this.changes?.add(change);
    this.receiver.changed(change);
  };

  private readonly handleOther = (at: ReceivedMessage, message: HubMessage): void => {
    const { connection } = at;
    const { ping, close, completion, invocation, streamItem } = hubMessageType;
    if (message.type === ping) this.recorder.soFar.pingsReceived += 1;
    else if (message.type === close)
      connection.closedByServer(message.error ?? '', message.allowReconnect === true);
    else if (
      message.type === completion &&
      this.senders.completed(connection, message, this.nowUs())
    )
      return;
    else if (this.preparation.handle(connection, message)) return;
    else if (message.type === invocation) this.senders.called(at, message);
    else if (message.type === streamItem) this.senders.streamed(at, message);
    else if (message.type === completion && typeof message.error === 'string')
      this.recorder.error('invocation', shownText(message.error));
  };

  private beginStep(step: PlanStep, atUs: number, ambiguousUs = 0): void {
    const { index } = step;
    const measureUs = atUs + step.warmupMs * 1000;
    const endUs = measureUs + step.measureMs * 1000;
    this.window = { index, measureUs, endUs };
    this.borderUs = measureUs;
    this.life?.beginStep(measureUs, endUs);
    const recorder = this.recorder.beginStep(index, ambiguousUs);
    recorder.measureUntil(endUs);
    recorder.drainUs = step.drainMs * 1000;
    recorder.lateFromUs = endUs + recorder.drainUs;
    this.elsewhere?.begin(ambiguousUs);
    recorder.measuredFromUs = measureUs;
    recorder.measuredToUs = this.window.endUs;
    recorder.warming = step.warmupMs > 0;
    recorder.messageBytes = step.messageBytes;
    this.senders.begin(step, atUs, recorder);
    this.loop.rescheduled();
  }

  work(): boolean {
    const nowUs = this.nowUs();
    if (nowUs >= this.borderUs) this.crossBorder();
    const state = this.senders.pump();
    if (state === 'done')
      this.post({ type: 'stepSent', index: this.recorder.current!.step, atUs: this.nowUs() });
    if (nowUs >= this.nextPingsUs) this.ping(nowUs);
    if (nowUs >= this.nextTick * tickUs) {
      this.sample(true);
      this.connections.reportSilence();
      this.service?.senders.persistent?.tick();
      this.nextTick = Math.floor(nowUs / tickUs) + 1;
    }
    return state === 'more';
  }

  /** Workers ping at different times; uses wake-ups of the loop that happen anyway. */
  private ping(nowUs: number): void {
    const { plan, worker } = this.start;
    const offsetUs = (pingTurnUs * worker) / plan.workers.length;
    const turn = Math.floor((nowUs - offsetUs) / pingTurnUs);
    this.connections.keepAlive(turn);
    this.nextPingsUs = (turn + 1) * pingTurnUs + offsetUs;
  }

  /** Enters or leaves the measured time: no sample spans that border. */
  private crossBorder(): void {
    const { index, measureUs, endUs } = this.window!;
    this.sample(false);
    const entering = this.borderUs === measureUs && this.measuring !== index;
    if (entering) this.recorder.current!.warming = false;
    this.measuring = entering ? index : 0;
    this.borderUs = entering ? endUs : Infinity;
  }

  private sample(due: boolean, flush?: number): void {
    if (due || flush !== undefined)
      for (const report of this.changes?.take(this.nowUs()) ?? [])
        this.post({ type: 'moved', ...report });
    const generator = this.selfCheck.take(this.measuring);
    const atUs = this.nowUs();
    const suspendedUs = this.surroundings.suspendDetector?.takeUs() ?? 0;
    const unreadUs = atUs - this.loop.unreadSinceUs(atUs);
    const readGapUs = Math.max(this.selfCheck.takeReadGapUs(), unreadUs);
    if (atUs - noticedUs > (this.window?.measureUs ?? Infinity))
      this.recorder.current?.didNotRead(readGapUs, suspendedUs);
    const counts = this.recorder.take(this.start.worker, this.nextTick, generator);
    const unsettled = this.elsewhere?.unsettled;
    const sample = { ...counts, atUs, ...(unsettled !== undefined && { unsettled }) };
    this.post({ type: 'sampled', sample, due, ...(flush !== undefined && { flush }) });
  }

  private close(): void {
    this.receiver.reportWrongNames();
    this.life?.stop();
    if (this.life !== undefined) this.connections.recordLifespans();
    this.connections.close();
    this.service?.senders.rest.close();
    this.service?.senders.persistent?.close();
    this.sample(false);
    this.loop.end();
    this.selfCheck.dispose();
    this.post({ type: 'closed' });
  }
}

/** Resolves when all input that has arrived is read: after one turn of the event loop. */
const allRead = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });

function groupOf(populations: readonly Population[], index: number): string | undefined {
  const population = populations.find(({ audience }) => audience === 'group');
  return population?.groupName(population.groupOf(index, 0));
}

function rowsOf(
  { plan, endpoint, worker }: WorkerStart,
  personal: PersonalEndpoints,
  memory: SharedArrayBuffer | undefined,
): MessageRows | undefined {
  const { identities, data } = endpoint.personal ?? {};
  if (identities === undefined && data === undefined) return undefined;
  return new MessageRows(personal, data, plan, agentOfWorker(plan, worker), memory);
}

interface WorkerAccess {
  readonly tokens: AccessTokens;
  readonly clientTokens: ClientTokens;
  readonly senders: { readonly rest: RestCalls; readonly persistent?: WeakServerConnection };
}

function accessOf(
  { plan, endpoint }: WorkerStart,
  { Persistent }: WorkerSurroundings,
  recorder: Recorder,
  loop: PacingLoop,
): WorkerAccess | undefined {
  const { service } = endpoint;
  if (service === undefined) return undefined;
  const failed = ({ errorClass, text }: ServiceFailure): void => recorder.error(errorClass, text);
  const freed = (): void => loop.rescheduled();
  const permissions = plan.entries.flatMap(({ run }) => permissionsOf(run));
  const tokens = new AccessTokens(service, plan.runId, permissions);
  const rest = new RestCalls(endpoint, service, tokens, failed, freed);
  const areIssued = 'bearer' in service && !services[service.kind].lendsKey;
  return {
    tokens,
    clientTokens: areIssued ? new IssuedTokens(rest) : tokens,
    senders: {
      rest,
      ...(Persistent && { persistent: new Persistent(endpoint, service, tokens, failed) }),
    },
  };
}
