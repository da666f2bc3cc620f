import assert from 'node:assert/strict';
import { sideBySide } from '../fakes/sideBySide';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  onlyStep,
} from '../load/loadRun';
import { sharedAspNetServer } from './aspnetServer';

const connections = 20;
/** Each sender's messages in half a second at one in 50 ms. */
const perSender = 10;

describe('use cases against ASP.NET Core SignalR over every transport', function () {
  const server = sharedAspNetServer();

  // Only counts are judged here.
  const test = sideBySide();

  const base = { connections, skipNegotiation: false };

  for (const transport of ['Websockets', 'ServerSentEvents', 'LongPolling'] as const) {
    const config = { ...base, transport };

    test(`use cases run side by side: exact counts over ${transport}`, async () => {
      const streams = { sendingInterval: '100ms', streamingItemCount: 3 };
      const run = await loadRun({
        target: server.url,
        config,
        workers: 2,
        entries: [
          { name: 'echo', senders: 4 },
          { name: 'broadcast', senders: 2 },
          { name: 'sendToGroup', senders: 4, parameters: { groupCount: 2 } },
          {
            name: 'invoke',
            senders: 4,
            parameters: { messageSize: undefined, method: 'GetConnectionId' },
          },
          { name: 'streamingEcho', senders: 3, parameters: streams },
          {
            name: 'streamingEcho',
            senders: 3,
            parameters: { ...streams, streamDirection: 'upload' },
          },
        ],
      });
      assertUndisturbed(run);
      const [echo, broadcast, group, invoke, both, upload] = onlyStep(run).entries!;
      assertExact(echo!, 4 * perSender, 4 * perSender);
      assertExact(broadcast!, 2 * perSender, 2 * perSender * connections);
      assertExact(group!, 4 * perSender, 4 * perSender * 10);
      assertExact(invoke!, 4 * perSender, 4 * perSender);
      // Five streams of three items each; an upload has one answer.
      assertExact(both!, 45, 45);
      assertExact(upload!, 45, 15);
    });
  }

  // What the mix leaves out, over one or the other.

  test('connections only stand: LongPolling', async () => {
    const run = await loadRun({
      target: server.url,
      useCase: 'connectOnly',
      parameters: { messageSize: undefined, sendingInterval: undefined },
      config: { ...base, transport: 'LongPolling' },
      workers: 2,
    });
    assertUndisturbed(run);
    const step = onlyStep(run);
    assertExact(step, 0, 0);
    assert.deepEqual(step.connections, { requested: connections, open: connections });
  });

  test('connections move in and out of groups: exact counts over ServerSentEvents', async () => {
    const run = await loadRun({
      target: server.url,
      useCase: 'frequentJoinLeaveGroup',
      parameters: { groupCount: 3, joinLeaveInterval: '100ms', sendersPer: 'group' },
      config: {
        ...{ ...base, transport: 'ServerSentEvents' },
        ...{ baseSending: 5, sendingSteps: 1, warmup: 0 },
      },
      workers: 2,
    });
    assertUndisturbed(run);
    const step = onlyStep(run);
    // Five senders in groups of two, two and one; who moves is counted apart.
    assertExact(step, 5 * perSender, perSender * (2 * 2 + 2 * 2 + 1));
    const { joins, leaves, skipped, joinsFailed, leavesFailed } = step.membership!;
    assert.deepEqual([joinsFailed, leavesFailed], [0, 0]);
    // Fifteen connections with five moves each, of which the last may be under way at the end.
    const moves = joins + leaves + skipped;
    assert.ok(moves >= 15 * 4 && moves <= 15 * 5, `${moves} moves`);
    assert.ok(joins >= leaves && joins >= 15, `${joins} joined, ${leaves} left`);
  });

  const callback = {
    method: 'SendToClient',
    arguments: [{ 'information.ConnectionId': '{receiver}', text: '{text:100}' }],
    ...{ reply: 'callback', callback: 'RecordLatency', receivers: 'client' },
  };
  for (const [transport, own] of [
    ['ServerSentEvents', { method: 'GetConnectionId' }],
    ['LongPolling', callback],
  ] as const)
    test(`own methods answer or call back: exact counts over ${transport}`, async () => {
      const run = await loadRun({
        target: server.url,
        useCase: 'invoke',
        parameters: { messageSize: undefined, ...own },
        config: { ...base, transport, singleStepDuration: '250ms', warmup: 0 },
        workers: 2,
      });
      assertUndisturbed(run);
      assertExact(onlyStep(run), connections * 5, connections * 5);
    });

  for (const transport of ['Websockets', 'LongPolling'] as const)
    test(`streams of methods that know nothing of us: exact counts over ${transport}`, async () => {
      const streams = { messageSize: undefined, sendingInterval: '100ms', streamingItemCount: 4 };
      const run = await loadRun({
        target: new URL('/own', server.url).href,
        config: { ...base, transport, singleStepDuration: '500ms' },
        workers: 2,
        entries: [
          {
            name: 'invoke',
            senders: 5,
            parameters: { ...streams, method: 'Counter', arguments: [4, 0], reply: 'stream' },
          },
          {
            name: 'invoke',
            senders: 5,
            parameters: {
              ...{ ...streams, method: 'Shout', arguments: ['!'], reply: 'stream' },
              streamingItems: ['word {sequence} of {senderIndex}', 'another'],
            },
          },
          {
            name: 'invoke',
            senders: 5,
            parameters: {
              ...{ ...streams, method: 'Upload' },
              streamingItems: [{ number: '{sequence}', text: '{text:40}' }],
            },
          },
        ],
      });
      assertUndisturbed(run);
      const [counter, shout, upload] = onlyStep(run).entries!;
      // Five streams of each of five senders.
      assertExact(counter!, 25, 25 * 4);
      assertExact(shout!, 25 * 4, 25 * 4);
      assertExact(upload!, 25 * 4, 25);
    });

  test('a slow method shows as latency, and one that cannot keep up as what waits for it', async () => {
    const slow = (sendingInterval: string) =>
      loadRun({
        target: new URL('/own', server.url).href,
        useCase: 'invoke',
        parameters: { messageSize: undefined, method: 'Slow', arguments: [150], sendingInterval },
        config: { connections, warmup: 0, singleStepDuration: '800ms' },
      });
    const run = await slow('400ms');
    assertUndisturbed(run);
    const step = onlyStep(run);
    assertExact(step, 2 * connections, 2 * connections);
    assert.ok(step.latencyUs.p50 >= 150_000, `${step.latencyUs.p50} us`);

    // A hub works off the calls of one connection one after the other: the last of eight waits for seven.
    const late = await slow('100ms');
    assertUndisturbed(late);
    assertExact(onlyStep(late), 8 * connections, 8 * connections);
    const { max } = onlyStep(late).latencyUs;
    assert.ok(max >= 8 * 150_000 - 700_000, `${max} us`);
  });

  test('streams that break, or are cancelled, are reported in the words of the server', async () => {
    const own = (parameters: object) =>
      loadRun({
        target: new URL('/own', server.url).href,
        useCase: 'invoke',
        config: { connections, warmup: 0, drain: '500ms' },
        parameters: {
          ...{ messageSize: undefined, sendingInterval: '250ms', reply: 'stream' },
          ...parameters,
        },
      });
    const broken = await own({ method: 'Broken', arguments: [2], streamingItemCount: 3 });
    assert.deepEqual(broken.errors, { invocation: 2 * connections });
    assert.match(broken.errorExamples[0]!.text, /the machine is out of order/);
    const step = onlyStep(broken);
    assert.deepEqual([step.received, step.lost], [4 * connections, 2 * connections]);

    // Its second item never comes, however late the cancellation does: the hub counts those that came.
    const run = await own({ method: 'Lasting', streamingItemCount: 1, streamingCancelAfter: 1 });
    assertUndisturbed(run);
    assertExact(onlyStep(run), 2 * connections, 2 * connections);
    const cancelled = await fetch(new URL('/cancelled', server.url));
    assert.equal(await cancelled.text(), String(2 * connections));
  });

  test('connections with short lives come back, and no count is lost', async () => {
    const run = await loadRun({
      target: server.url,
      useCase: 'sendToGroup',
      parameters: { groupCount: 4 },
      config: {
        ...{ connections, transport: 'LongPolling', skipNegotiation: false },
        ...{ lifetime: '800ms', singleStepDuration: '2s' },
      },
      workers: 2,
    });
    assertUndisturbed(run);
    const { life, reconnected } = run.connections;
    assert.ok(reconnected >= 5, `${reconnected} reconnected`);
    assert.deepEqual([life?.drops, life!.closed >= reconnected], [0, true]);
    const { expected, lost, duplicated, outOfOrder, latencyUs } = onlyStep(run);
    assert.ok(expected > 100, `${expected} expected`);
    assert.deepEqual([duplicated, outOfOrder], [0, 0]);
    // Who leaves takes part no more a second before: what comes later than that is lost.
    if (latencyUs.max < 900_000) assert.equal(lost, 0);
  });

  it('connections that the server closes and lets come back are repaired, and count as dropped', async () => {
    let drop: Promise<Response> | undefined;
    const run = await loadRun({
      target: server.url,
      useCase: 'sendToGroup',
      parameters: { groupCount: 4 },
      config: {
        ...{ connections, transport: 'ServerSentEvents', skipNegotiation: false },
        ...{ repair: true, reconnectDelay: '100ms', singleStepDuration: '3s' },
        // What was on its way when the connections were closed never comes.
        ...{ warmup: 0, drain: '300ms' },
      },
      workers: 2,
      keepGoing: true,
      during: (going) => {
        going.onSnapshot(({ phase }) => {
          if (phase !== 'measuring') return;
          drop ??= fetch(new URL('/drop?mayReturn=true', server.url), { method: 'POST' });
        });
      },
    });
    // Connections of the run before may still be leaving.
    assert.ok(Number(await (await drop)?.text()) >= connections);
    assert.equal(run.ending, 'completed');
    const { connected, dropped, reconnected, life } = run.connections;
    assert.deepEqual([connected, dropped, reconnected], [connections, connections, connections]);
    assert.equal(life?.drops, connections);
    const step = onlyStep(run);
    assert.deepEqual(step.connections, { requested: connections, open: connections });
    assert.ok(step.received > connections * 2, `${step.received} received`);
    assert.deepEqual([step.duplicated, step.outOfOrder], [0, 0]);
    assertConsistent(run);
  });
});
