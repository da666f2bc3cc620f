import assert from 'node:assert/strict';
import {
  encodeServiceMessage,
  type ServiceMessage,
} from '../../../../src/wire/service/serviceMessage';
import { messageOf, runs, type RecordedEvent } from '../../../fakes/recordedSdk';
import type { StubConnection, StubService } from '../../../fakes/stubService';
import { until } from '../../../fakes/until';
import { withAppServer } from './appServerParts';

/** Methods that the recorded hub has under another name. */
const ourNames = { '"Join"': '"JoinGroup"', '"Leave"': '"LeaveGroup"' };
/** What both hubs answer alike: methods that neither has, or that are called wrongly, and groups. */
const alike = /"target":"(NoSuch|Join|Leave)"|"target":"Echo","arguments":\[\]/;

const clientOf = (message: ServiceMessage): string =>
  'connectionId' in message ? (message.connectionId ?? '') : '';

function hubTexts(message: ServiceMessage): string[] {
  return message.type === 6 ? message.payload.toString('utf8').split('\x1e').slice(0, -1) : [];
}

/** Whether an answer depends on nothing but the protocols and what {@link alike} names. */
function isComparable(message: ServiceMessage, alikeIds: ReadonlySet<string>): boolean {
  if ([5, 18, 19, 39].includes(message.type)) return !('tracingId' in message);
  return hubTexts(message).some((text) => {
    const { type, invocationId } = JSON.parse(text) as { type?: number; invocationId?: string };
    return type === undefined || type === 7 || (type === 3 && alikeIds.has(invocationId ?? ''));
  });
}

/** The frame that the SDK would have written in our place. */
function asRecorded(message: ServiceMessage): string {
  if (message.type !== 6) return encodeServiceMessage(message).toString('base64');
  const text = message.payload.toString('utf8').replace(/'(Join|Leave)Group'/g, "'$1'");
  return encodeServiceMessage({ ...message, payload: Buffer.from(text) }).toString('base64');
}

/** Replays what the service sent; gives back, by client, what the SDK and what we answered. */
async function replay(
  runName: string,
  connectionCount: number,
  isFed: (message: ServiceMessage) => boolean,
): Promise<{ readonly theirs: Map<string, string[]>; readonly ours: Map<string, string[]> }> {
  const events = runs.find(({ name }) => name === runName)?.events ?? [];
  const alikeIds = new Set<string>();
  const theirs = new Map<string, string[]>();
  const ours = new Map<string, string[]>();
  const feed = async ({ connections }: StubService): Promise<void> => {
    for (const event of events) {
      if (event.kind === 'malformed')
        connections[event.conn ?? 0]?.send(Buffer.from(event.base64 ?? '', 'base64'));
      const message = messageOf(event);
      const connection = connections[event.conn ?? connectionCount];
      if (message === undefined || connection === undefined) continue;
      if (event.direction === 'service-to-server') {
        if (!isFed(message)) continue;
        for (const text of hubTexts(message).filter((each) => alike.test(each)))
          alikeIds.add((JSON.parse(text) as { invocationId: string }).invocationId);
        connection.send(renamed(message, event));
        // What the hub does then takes a moment.
        if (message.type === 20) await caughtUp(connection);
      } else if (isComparable(message, alikeIds)) {
        keep(theirs, clientOf(message), event.base64 ?? '');
      }
    }
  };
  const options = { serverConnections: connectionCount, protocols: ['json'] as const };
  await withAppServer(options, async (server, service) => {
    await feed(service);
    await Promise.all(service.connections.slice(0, connectionCount).map(caughtUp));
    await server.dispose();
    for (const { messages } of service.connections)
      for (const message of messages.filter((each) => isComparable(each, alikeIds)))
        keep(ours, clientOf(message), asRecorded(message));
  });
  return { theirs, ours };
}

function keep(kept: Map<string, string[]>, client: string, frame: string): void {
  kept.set(client, [...(kept.get(client) ?? []), frame]);
}

function renamed(message: ServiceMessage, { base64 = '' }: RecordedEvent): ServiceMessage | Buffer {
  if (message.type !== 6) return Buffer.from(base64, 'base64');
  let text = message.payload.toString('utf8');
  for (const [theirName, ourName] of Object.entries(ourNames))
    text = text.replaceAll(theirName, ourName);
  return { ...message, payload: Buffer.from(text) };
}

/** Everything that was sent before has been worked on. */
async function caughtUp(connection: StubConnection): Promise<void> {
  const before = connection.messages.length;
  connection.send({ type: 3, messages: ['echo', 'caught up'] });
  await until('the answer to a ping', () =>
    connection.messages
      .slice(before)
      .some((each) => each.type === 3 && each.messages[1] === 'caught up'),
  );
}

describe('app server and recorded sessions of the SDK', () => {
  it('answers clients, groups, bad clients, pings and errors as the SDK did', async () => {
    // B speaks a protocol that app did not have, G broke a limit of 32 KiB, nothing is said of H; I only
    // times out, K was cut off.
    const left = ['connB', 'connG', 'connH', 'connI', 'connK'];
    const { theirs, ours } = await replay('main', 5, (each) => !left.includes(clientOf(each)));
    const compared = ['connA', 'connC', 'connD', 'connE', 'connL', 'ghost'];
    for (const client of compared) assert.deepEqual(ours.get(client), theirs.get(client), client);
    assert.deepEqual(
      compared.map((client) => theirs.get(client)?.length ?? 0),
      [16, 2, 2, 3, 2, 0],
    );
    assert.equal(ours.has('connJ'), theirs.has('connJ'));
  });

  it('answers a service that closes and pauses clients as the SDK did', async () => {
    const isFed = (message: ServiceMessage): boolean =>
      ['connM', 'connN', 'connR', 'connS'].includes(clientOf(message)) &&
      !hubTexts(message).some((text) => text.includes('"Join"'));
    const { theirs, ours } = await replay('clients', 2, isFed);
    for (const client of ['connM', 'connN', 'connS'])
      assert.deepEqual(ours.get(client), theirs.get(client), client);
    assert.deepEqual(
      ours.get('connR'),
      theirs
        .get('connR')
        ?.filter((frame) => messageOf({ direction: '', kind: '', base64: frame })?.type !== 18),
    );
    assert.ok(ours.get('connR')?.includes(pauseAck));
  });

  const pauseAck = encodeServiceMessage({
    type: 39,
    connectionId: 'connR',
    connectionType: 1,
    operation: 2,
  }).toString('base64');
});
