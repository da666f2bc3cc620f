import assert from 'node:assert/strict';
import { jsonCodec, messagePackCodec } from '../../src/wire/message/hubCodec';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  missedBy,
  onlyStep,
} from './loadRun';

/** Each sender's messages. */
const perSender = 10;

describe('exact counts against the embedded hub', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  it('of fewer senders than connections, over three workers with negotiate', async () => {
    const run = await loadRun({
      target: hub.url,
      workers: 3,
      config: { baseSending: 7, skipNegotiation: false },
    });
    assertUndisturbed(run);
    assert.equal(run.machine.workers, 3);
    assertExact(onlyStep(run), 7 * perSender, 7 * perSender);
  });

  it('of each shape of groups and receivers, over three workers in MessagePack', async () => {
    const group = (
      senders: number,
      receivers: number,
      parameters: object,
      name = 'sendToGroup',
    ) => ({ name, senders, receivers, parameters: { ...parameters } });
    const shapes = [
      group(2, 20, { groupCount: 1 }),
      group(3, 10, { groupCount: 2 }),
      group(4, 1, { groupCount: 20 }),
      group(4, 10, { groupCount: 4, groupsPerConnection: 2 }),
      group(4, 5, { groupCount: 4, sendersPer: 'group' }),
      group(3, 1, { targets: 'random' }, 'sendToClient'),
    ];
    const run = await loadRun({
      target: hub.url,
      workers: 3,
      config: { skipNegotiation: false, protocol: 'messagepack' },
      entries: shapes.map(({ name, senders, parameters }) => ({ name, senders, parameters })),
    });
    assertUndisturbed(run);
    const { entries = [] } = onlyStep(run);
    for (const [position, { senders, receivers }] of shapes.entries())
      assertExact(entries[position]!, senders * perSender, senders * perSender * receivers);
  });

  it('sends payloads of bytes', async () => {
    const run = await loadRun({
      target: hub.url,
      useCase: 'broadcast',
      workers: 2,
      config: { protocol: 'messagepack' },
      parameters: { payload: 'binary', messageSize: '64KB', sendingInterval: '250ms' },
    });
    const step = onlyStep(run);
    assertExact(step, 40, 40 * 20);
    assertConsistent(run);
    assert.equal(step.payloadBytesOut, 40 * 20 * 65_536);
  });

  it('counts bytes on the wire in either protocol', async () => {
    for (const codec of [jsonCodec, messagePackCodec]) {
      const { protocol } = codec;
      const step = onlyStep(await loadRun({ target: hub.url, config: { protocol } }));
      assertExact(step, 200, 200);
      assert.equal(step.payloadBytesIn, 200 * 200);
      const bytes = (target: string): number =>
        codec.encode({
          type: 1,
          target,
          arguments: [
            {
              'bench.Stamp': 's'.repeat(54),
              'payload.Timestamp': Date.now(),
              'payload.MessageBlob': 'x'.repeat(200),
            },
          ],
        }).length;
      // Heads of frames: 4 bytes, and 4 of the mask of a client.
      assert.equal(step.wireBytesIn, 200 * (bytes('Echo') + 8), protocol);
      // The first message of each sender asks for an answer, which may come in the measured time.
      const invocationId = 's'.repeat(54);
      const answer = codec.encode({ type: 3, invocationId, result: null }).length + 2;
      const answers = (step.wireBytesOut! - 200 * (bytes('RecordLatency') + 4)) / answer;
      assert.ok(Number.isInteger(answers) && answers >= 0 && answers <= 20, `${answers} answers`);
    }
  });

  it('counts each of several steps by itself', async () => {
    const run = await loadRun({
      target: hub.url,
      config: { baseSending: 5, step: 10, connections: 20, singleStepDuration: '300ms' },
      workers: 2,
    });
    assert.deepEqual(
      run.steps.map(({ index, senders }) => [index, senders]),
      [
        [1, 5],
        [2, 15],
        [3, 20],
      ],
    );
    for (const step of run.steps) assertExact(step, step.senders * 6, step.senders * 6);
    assert.deepEqual(missedBy(run), []);
  });

  it('spreads connections over several URLs', async () => {
    const second = await startHubHere();
    try {
      const run = await loadRun({
        target: [hub.url, second.url],
        useCase: 'broadcast',
        workers: 2,
        config: { skipNegotiation: false, drain: '500ms' },
      });
      const step = onlyStep(run);
      assert.equal(run.connections.connected, 20);
      // Two hubs that do not know each other: a broadcast reaches the half on its own.
      assert.equal(step.sent, 200);
      assert.equal(step.expected, 200 * 20);
      assert.equal(step.received, 200 * 10);
      assert.equal(step.extra, 0);
      assert.deepEqual(
        run.connections.targets?.map(({ url, connected, received, latencyUs }) => [
          [url, connected, received, latencyUs.count],
        ]),
        [hub, second].map(({ url }) => [[url, 10, 1000, 1000]]),
      );
      // A busy machine may make the step invalid on top.
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slo-delivered'));
    } finally {
      await second.dispose();
    }
  });
});
