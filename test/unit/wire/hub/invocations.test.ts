import assert from 'node:assert/strict';
import { jsonCodec } from '../../../../src/wire/message/hubCodec';
import { type HubConnection, Invocations } from '../../../../src/wire/hub/clientConnection';

const hub = {
  index: 3,
  isOpen: true,
  codec: jsonCodec,
  sendMessage: () => undefined,
} as unknown as HubConnection;
const refusal = (invocationId: string) => ({ type: 3, invocationId, error: 'no' }) as const;

describe('Invocations', () => {
  it('knows the completions of its own calls, once, even those that come too late', async () => {
    const calls = new Invocations();
    const answered = calls.invoke(hub, 'JoinGroup', ['g'], 1000);
    const silent = await calls.invoke(hub, 'JoinGroup', ['g'], 1);
    assert.equal(silent.ok ? undefined : silent.errorClass, 'timeout');

    assert.deepEqual(
      ['1', '2', '1', '2', '3'].map((id) => calls.completed(hub, refusal(id))),
      [true, true, false, false, false],
    );
    assert.deepEqual(await answered, { ok: false, errorClass: 'invocation', text: 'no' });
  });

  it('forgets the calls of a connection that is lost', async () => {
    const calls = new Invocations();
    const waiting = calls.invoke(hub, 'JoinGroup', ['g'], 1000);
    calls.lost(hub);
    assert.equal(calls.completed(hub, refusal('1')), false);
    const outcome = await waiting;
    assert.equal(outcome.ok ? undefined : outcome.errorClass, 'closed');
  });

  it('looks for the calls of a lost connection among its own only', async () => {
    const calls = new Invocations();
    const outcomes = Array.from({ length: 500 }, (_, index) =>
      calls.invoke({ ...hub, index }, 'JoinGroup', ['g'], 60_000),
    );
    let reads = 0;
    const gone = {
      get index() {
        reads += 1;
        return 7;
      },
    } as unknown as HubConnection;
    calls.lost(gone);
    assert.equal(reads, 1);
    const outcome = await outcomes[7]!;
    assert.equal(outcome.ok ? undefined : outcome.errorClass, 'closed');
    const others = outcomes.map((_, index) =>
      calls.completed({ ...hub, index }, refusal(String(index + 1))),
    );
    assert.deepEqual(
      others.flatMap((isKnown, index) => (isKnown ? [] : [index])),
      [7],
    );
  });
});
