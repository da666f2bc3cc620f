import assert from 'node:assert/strict';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import {
  assertConsistent,
  loadRun,
  missedBy,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from './loadRun';

const connections = 20;
const short = {
  ...{ connections, dialect: 'recordLatency', skipNegotiation: false },
  ...{ singleStepDuration: '300ms', warmup: 0, drain: '1s' },
};
/** Each sender's messages in 0.3 s at one in 50 ms. */
const perSender = 6;
const missing = 'Method does not exist';

/** A run whose hub answers one call of each connection with an error, which is all that went wrong. */
function assertRefused({ errors, errorExamples }: LoadResult, reported: RegExp): void {
  assert.deepEqual(errors, { invocation: connections });
  assert.equal(errorExamples.length, 1);
  assert.equal(errorExamples[0]!.errorClass, 'invocation');
  assert.match(errorExamples[0]!.text, reported);
}

/** Nothing arrived, and all of it is known to be lost. */
function assertAllLost(run: LoadResult): void {
  assert.equal(run.ending, 'completed');
  assert.ok(missedBy(run).length > 0);
  assert.equal(run.connections.dropped, 0);
  const { sent, expected, received, lost } = onlyStep(run);
  assert.deepEqual([sent, received], [connections * perSender, 0]);
  assert.ok(expected >= sent);
  assert.equal(lost, expected);
  assertConsistent(run);
}

/** Everybody was given up before the first step, and that is what the result says. */
function assertGivenUp(run: LoadResult): void {
  assert.equal(run.ending, 'targetLost');
  assert.equal(run.verdict.status, 'incomplete');
  assert.equal(run.connections.connected, connections);
  assert.equal(run.connections.dropped, connections);
  assertConsistent(run);
}

describe('a hub that answers with errors', function () {
  /** It has only the methods of the dialect measure, of which some have the same names. */
  let hub: HubHere;
  const run = (test: Omit<LoadTest, 'target'>): Promise<LoadResult> =>
    loadRun({ ...test, target: hub.url, config: { ...short, ...test.config } });

  before(async () => (hub = await startHubHere('--dialect measure')));
  after(() => hub.dispose());

  const beside = sideBySide();

  beside('to messages of a method that is missing', async () => {
    const test = { useCase: 'sendToGroup', parameters: { groupCount: 4 } };
    const missed = await run({ ...test, workers: 2 });
    assertRefused(missed, new RegExp(`'SendToGroup'.*${missing}`));
    assertAllLost(missed);
  });

  beside('to a wrong number of arguments, the official client', async () => {
    const missed = await run({
      useCase: 'broadcast',
      config: { protocol: 'messagepack', driver: 'sdk' },
    });
    assertRefused(missed, /^Failed to invoke 'Broadcast' due to an error on the server/);
    assertAllLost(missed);
  });

  beside('to preparing: the method that joins groups is missing', async () => {
    const parameters = {
      ...{ messageSize: undefined, method: 'GroupBroadcast', joinMethod: 'EnterRoom' },
      ...{ arguments: ['{group}', '{ticks}', '{text:100}'], groupCount: 3 },
      ...{ reply: 'callback', callback: 'Measure', receivers: 'group' },
    };
    const refused = await run({ useCase: 'invoke', parameters, workers: 2 });
    assertRefused(refused, new RegExp(`^EnterRoom: .*${missing}`));
    assertGivenUp(refused);
  });

  beside('to preparing: nothing gives the connection ids', async () => {
    const refused = await run({ useCase: 'sendToClient' });
    assertRefused(refused, new RegExp(`^ConnectionId: .*${missing}`));
    assertGivenUp(refused);
  });
});
