import assert from 'node:assert/strict';
import type { Plan } from '../../../../src/plan/plan';
import { Connections, pingTurnUs, Lifespans } from '../../../../src/engine/connect/connections';
import { Recorder } from '../../../../src/engine/recorder';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import { HubMessageError } from '../../../../src/wire/message/hubMessage';
import { endpointOf } from '../../../fakes/endpoint';
import { HubSide, type HubSideConnection } from '../../../fakes/hubSide';
import { planOf } from '../../../fakes/plan';
import { VirtualTime } from '../../../fakes/virtualTime';
import { LifeTotals } from '../../../../src/measure/total/runTotals';

const ping = { type: 6 } as const;
const fifteenSeconds = 15_000_000 / pingTurnUs;
const generator = { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 };

describe('Connections', () => {
  let time: VirtualTime;
  let hub: HubSide;
  let recorder: Recorder;
  let connections: Connections;
  let events: string[];
  let receive: () => void;

  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => {
    connections.close();
    time.restore();
  });

  function make(changes: Partial<Plan> = {}): void {
    const plan = planOf({ connections: 5, arrivingRate: 1000, ...changes });
    const start = { plan, worker: 0, endpoint: endpointOf('http://127.0.0.1:1/'), originUs: 0 };
    hub = new HubSide();
    recorder = new Recorder();
    events = [];
    receive = () => undefined;
    const sockets = { clock: time, open: hub.open };
    connections = new Connections(
      start,
      sockets,
      recorder,
      {},
      {
        received: () => receive(),
        message: () => receive(),
        lost: ({ index }) => events.push(`lost ${index}`),
        failed: (index) => events.push(`failed ${index}`),
      },
    );
  }
  const open = (to = 5): Promise<void> => time.until(connections.openRange(0, 0, to), 60_000);
  const counts = (): Record<string, number> => {
    const { connected, failed, dropped, drops, closed, reconnected, openedLate, notBack } =
      recorder.soFar;
    const all = { connected, failed, dropped, drops, closed, reconnected, openedLate, notBack };
    return Object.fromEntries(Object.entries(all).filter(([, count]) => count !== 0));
  };
  const at = (index: number): HubSideConnection => hub.connections[index]!;

  it('counts what could not be opened, after three tries, and says who it was', async () => {
    make();
    let tries = 0;
    hub.refuses = (index) =>
      index === 1 ? ((tries += 1), new ConnectFailure('refused', 'no')) : undefined;
    await open();
    assert.equal(tries, 3);
    assert.deepEqual(counts(), { connected: 4, failed: 1 });
    assert.deepEqual(events, ['failed 1']);
    // The tries in between are errors, too.
    assert.deepEqual(recorder.take(0, 1, generator).errors, { refused: 3 });
  });

  it('counts one that is opened later after all, and no failure any more', async () => {
    make();
    hub.refuses = (index) => (index === 1 ? new ConnectFailure('unauthorized', 'no') : undefined);
    await open();
    hub.refuses = () => undefined;
    await time.until(connections.reopen(1, new AbortController().signal), 1000);
    assert.deepEqual(counts(), { connected: 5, openedLate: 1 });
  });

  it('counts a loss each time, and the connection once', async () => {
    make();
    await open();
    at(0).drop('closed', 'gone');
    await time.until(connections.reopen(0, new AbortController().signal), 1000);
    at(0).drop('closed', 'gone again');
    assert.deepEqual(counts(), { connected: 5, dropped: 1, drops: 2, reconnected: 1 });
    assert.deepEqual(events, ['lost 0', 'lost 0']);
  });

  it('reports how long a lost one was open', async () => {
    make();
    await open();
    await time.to(4000);
    at(4).drop('closed', 'gone');
    const [drop] = recorder.take(0, 1, generator).connections.droppedOnes ?? [];
    assert.deepEqual(drop, {
      ...{ connection: 4, atS: 4, openS: 3.996, errorClass: 'closed', text: 'gone' },
    });
  });

  it('counts as not back what it has closed and could not open again, until it could', async () => {
    make();
    await open();
    connections.closeOne(at(2));
    assert.deepEqual(counts(), { connected: 5, closed: 1 });
    connections.reopenFailed(2, new ConnectFailure('refused', 'no'));
    connections.reopenFailed(2, new ConnectFailure('refused', 'no'));
    assert.deepEqual(counts(), { connected: 5, closed: 1, notBack: 1 });
    await time.until(connections.reopen(2, new AbortController().signal), 1000);
    assert.deepEqual(counts(), { connected: 5, closed: 1, reconnected: 1 });
  });

  it('does not count one that was dropped as not back', async () => {
    make();
    await open();
    at(3).drop('closed', 'gone');
    connections.reopenFailed(3, new ConnectFailure('refused', 'no'));
    assert.deepEqual(counts(), { connected: 5, dropped: 1, drops: 1 });
  });

  it('gives a server five seconds to answer a goodbye', async () => {
    make();
    await open();
    const closing = at(1);
    connections.closeOne(closing);
    await time.to(time.nowMs + 4999);
    assert.equal(closing.over, 'closed');
    await time.to(time.nowMs + 1);
    assert.equal(closing.over, 'destroyed');
  });

  it('leaves those alone that keep themselves alive', async () => {
    make();
    await open();
    at(0).hasOwnKeepAlive = true;
    await time.to(100_000);
    for (const turn of [fifteenSeconds, fifteenSeconds]) connections.keepAlive(turn);
    assert.deepEqual([at(0).pings, at(0).isOpen], [0, true]);
    connections.pinged();
    assert.equal(recorder.soFar.pingsSent, 1);
  });

  it('pings those, too, whose turn it has missed', async () => {
    make();
    await open();
    for (const turn of [-2, 2, 3]) connections.keepAlive(fifteenSeconds + turn);
    // The turns up to 2, and of 3.
    assert.deepEqual(
      hub.connections.map(({ pings }) => pings),
      [1, 1, 1, 1, 0],
    );
  });

  it('blames no server for what it has not read while it stood still itself', async () => {
    make();
    await open();
    for (const connection of hub.connections) connection.lastReceivedUs = time.nowUs();
    connections.keepAlive(1);
    await time.to(time.nowMs + 40_000);
    connections.keepAlive(801);
    assert.deepEqual(events, []);
    // What had come is read by now.
    at(0).lastReceivedUs = time.nowUs();
    for (let turn = 802; turn <= 801 + fifteenSeconds; turn++) connections.keepAlive(turn);
    assert.deepEqual(events, ['lost 1', 'lost 2', 'lost 3', 'lost 4']);
  });

  it('gives up a server that says nothing for more than 30 s', async () => {
    make();
    await open();
    for (const connection of hub.connections) connection.lastReceivedUs = time.nowUs();
    const openedMs = time.nowMs;
    await time.to(openedMs + 30_000);
    connections.keepAlive(fifteenSeconds);
    assert.equal(at(0).isOpen, true);
    await time.to(openedMs + 30_001);
    connections.keepAlive(fifteenSeconds);
    assert.deepEqual(events, ['lost 0']);
    assert.deepEqual(recorder.take(0, 1, generator).errors, { timeout: 1 });
    // It is the turn of others at other times.
    connections.keepAlive(fifteenSeconds + 1);
    assert.deepEqual(events, ['lost 0', 'lost 1']);
  });

  it('drops a connection whose hub breaks the protocol', async () => {
    make();
    await open();
    receive = () => {
      throw new HubMessageError('no JSON');
    };
    at(0).gets(ping);
    assert.equal(at(0).over, 'dropped');
    assert.deepEqual(recorder.take(0, 1, generator).errors, { protocol: 1 });
  });

  it('does not hide a defect of ours as one of the hub', async () => {
    make();
    await open();
    receive = () => {
      throw new TypeError('ours');
    };
    assert.throws(() => at(0).gets(ping), TypeError);
  });

  it('counts a lost socket that comes back as a drop and a reconnect', async () => {
    make();
    await open();
    at(1).interrupt();
    assert.deepEqual(counts(), { connected: 5, dropped: 1, drops: 1 });
    at(1).recover(250);
    assert.deepEqual(counts(), { connected: 5, dropped: 1, drops: 1, reconnected: 1 });
    assert.deepEqual(events, []);
  });

  it('counts one that does not come back no second time', async () => {
    make();
    await open();
    at(1).interrupt();
    at(1).drop('closed', 'no recovery');
    assert.deepEqual(counts(), { connected: 5, dropped: 1, drops: 1 });
    assert.deepEqual(events, ['lost 1']);
    assert.deepEqual(recorder.take(0, 1, generator).errors, { closed: 2 });
  });

  it('leaves room for payloads that a server escapes', async () => {
    make({ ...planOf({ parameters: { messageSize: 1_000_000, sendingInterval: 100 } }) });
    await open();
    const { maximumMessageBytes, maximumUnsentBytes } = hub.context!.options;
    assert.deepEqual([maximumMessageBytes, maximumUnsentBytes], [8_000_000, 4 * 1024 * 1024]);
  });
});

const second = 1_000_000;

describe('life spans of connections', () => {
  it('are reported with their down time and the share they were up', () => {
    const lifespans = new Lifespans();
    // Up from 0 to 10 s but for 2 s; up from 2 s on; down since 5 s; never opened is not counted.
    for (const index of [1, 3]) lifespans.opened(index, 0);
    lifespans.closed(1, 4 * second);
    lifespans.closed(1, 5 * second);
    lifespans.opened(1, 6 * second);
    lifespans.opened(2, 2 * second);
    lifespans.closed(3, 5 * second);
    lifespans.closed(4, 5 * second);
    assert.equal(lifespans.openUs(1, 7 * second), second);

    const totals = new LifeTotals();
    assert.equal(totals.summary(0, 0, 0), undefined);
    totals.add({ life: lifespans.take(10 * second) });
    const life = totals.summary(2, 0, 1)!;
    assert.deepEqual([life.drops, life.closed, life.reconnects], [2, 0, 1]);
    const nearly = (value: number, wanted: number): void =>
      assert.ok(Math.abs(value - wanted) <= 0.001 * Math.max(1, wanted), `${value}, not ${wanted}`);
    nearly(life.lifeSpanMs.p50, 10_000);
    nearly(life.downMs.p50, 2000);
    nearly(life.downMs.p99, 5000);
    nearly(life.sla.p50, 0.8);
    nearly(life.sla.p99, 0.5);
    nearly(life.sla.mean, 1 - 7 / 28);
  });
});
