import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import { startAzureSignalr } from '../../../../src/servers/azureSignalr/serviceEmulator';
import {
  serviceType,
  type ServiceMessage,
  type ServiceMessageOf,
} from '../../../../src/wire/service/serviceMessage';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { messageOf, runs, type RecordedEvent } from '../../../fakes/recordedSdk';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { until } from '../../../fakes/until';
import { RawClient } from '../rawClient';

/** A recorded client, played by a real WebSocket once its hub handshake is due. */
interface Player {
  readonly opened: ServiceMessageOf<4>;
  client?: RawClient;
  /** Its id here, and the server connection it was routed to; absent when it never got there. */
  id?: string;
  line?: ScriptedAppServer;
  /** Texts it must have got. */
  readonly expected: string[];
  isOver: boolean;
}

/** Plays the app server of a recording against the emulator, and compares what comes back. */
class Replay {
  readonly done = new Map<string, number>();
  readonly players = new Map<string, Player>();
  private hub = '';
  private readonly lines = new Map<number, ScriptedAppServer>();
  private readonly groups = new Map<string, Set<Player>>();
  /** Who waits for an Ack. */
  private readonly askers = new Map<number, ScriptedAppServer>();

  constructor(
    private readonly peer: EmulatorPeer,
    private readonly events: readonly RecordedEvent[],
  ) {}

  async run(): Promise<void> {
    for (const [index, event] of this.events.entries()) {
      if (event.conn === undefined) continue;
      if (event.kind === 'ws-upgrade') await this.connect(event, this.events.slice(index + 1));
      else if (event.kind === 'ws-close') await this.disconnect(event.conn);
      else if (event.base64 === undefined) continue;
      else if (event.direction === 'server-to-service')
        this.fromServer(event.conn, messageOf(event));
      else await this.fromService(event.conn, messageOf(event));
    }
  }

  close(): void {
    for (const { socket } of this.lines.values()) socket.terminate();
    for (const { client } of this.players.values()) client?.socket.terminate();
  }

  private count(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1);
  }

  /** Opens a server connection as recorded, unless the service of the recording refused it. */
  private async connect(event: RecordedEvent, later: readonly RecordedEvent[]): Promise<void> {
    const first = later.find(
      ({ conn, kind }) =>
        conn === event.conn && (kind === 'HandshakeResponse' || kind === 'ws-upgrade-refused'),
    );
    const answer = first?.kind === 'HandshakeResponse' ? messageOf(first) : undefined;
    if (answer?.type !== serviceType.handshakeResponse || answer.errorMessage) return;
    const { url, headers } = event.decoded as { url: string; headers: [string, string][] };
    const own = new Map(headers.filter(([name]) => /^(asrs|x-)/i.test(name)));
    // The recorded token is of its own time.
    this.hub = new URL(url, 'http://x').searchParams.get('hub') ?? '';
    const token = await this.peer.token(`/server/?hub=${this.hub}`);
    const socket = new WebSocket(this.peer.url.replace('http', 'ws') + url, {
      headers: { ...Object.fromEntries(own), Authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    this.lines.set(event.conn!, new ScriptedAppServer(socket));
  }

  private async disconnect(conn: number): Promise<void> {
    const line = this.lines.get(conn);
    this.lines.delete(conn);
    await line?.close();
    for (const player of this.players.values()) {
      if (player.line !== line || player.isOver) continue;
      player.isOver = true;
      await player.client?.closed;
      this.count('client of a lost connection');
    }
  }

  private fromServer(conn: number, recorded: ServiceMessage | undefined): void {
    if (recorded === undefined) return;
    const owner =
      'connectionId' in recorded ? this.players.get(recorded.connectionId ?? '') : undefined;
    const line = owner?.line ?? this.lines.get(conn);
    const message = this.withOwnIds(recorded);
    if (recorded.type === serviceType.connectionData && owner !== undefined && !owner.isOver) {
      owner.expected.push(...recorded.payload.toString().split('\x1e').slice(0, -1));
    }
    if (recorded.type === serviceType.closeConnection && owner !== undefined) owner.isOver = true;
    // The emulator answers a handshake that is none by itself.
    if (owner !== undefined && owner.line === undefined) return;
    if ('payloads' in recorded) this.expectDeliveries(recorded);
    if (recorded.type === serviceType.joinGroupWithAck && owner !== undefined) {
      const members = this.groups.get(recorded.groupName) ?? new Set();
      this.groups.set(recorded.groupName, members.add(owner));
    } else if (recorded.type === serviceType.leaveGroupWithAck && owner !== undefined) {
      this.groups.get(recorded.groupName)?.delete(owner);
    }
    if ('ackId' in message && line !== undefined) this.askers.set(message.ackId, line);
    line?.send(message);
  }

  private expectDeliveries(message: ServiceMessage): void {
    // Nothing reaches a client before the answer to its hub handshake.
    const there = [...this.players].filter(
      ([, { expected, isOver }]) => expected.length > 0 && !isOver,
    );
    const byId = (ids: readonly string[] = []): Player[] =>
      there.flatMap(([id, player]) => (ids.includes(id) ? player : []));
    const others = (ids: readonly string[] = []): Player[] =>
      there.flatMap(([id, player]) => (ids.includes(id) ? [] : player));
    const inGroups = (names: readonly string[]): Player[] =>
      names.flatMap((name) => [...(this.groups.get(name) ?? [])]);
    let receivers: Player[];
    if (message.type === serviceType.broadcastData) {
      receivers = others(message.excludedConnectionIds);
    } else if (message.type === serviceType.multiConnectionData) {
      receivers = byId(message.connectionIds);
    } else if (message.type === serviceType.groupBroadcastData) {
      const excluded = byId(message.excludedConnectionIds);
      receivers = inGroups([message.groupName]).filter((player) => !excluded.includes(player));
    } else if (message.type === serviceType.multiGroupBroadcastData) {
      receivers = inGroups(message.groupNames);
    } else if (message.type === serviceType.clientInvocation) {
      receivers = byId([message.connectionId]);
    } else {
      return;
    }
    const frame = message.payloads
      ?.find(([name]) => name === 'json')?.[1]
      .toString()
      .slice(0, -1);
    for (const { expected } of receivers) expected.push(frame ?? '');
    this.count('send');
  }

  private async fromService(conn: number, recorded: ServiceMessage | undefined): Promise<void> {
    const line = this.lines.get(conn);
    switch (recorded?.type) {
      case serviceType.handshakeResponse: {
        if (line === undefined) return;
        assert.equal((await line.next(recorded.type)).errorMessage, '');
        this.count('handshake');
        break;
      }
      case serviceType.openConnection:
        this.players.set(recorded.connectionId, { opened: recorded, expected: [], isOver: false });
        break;
      case serviceType.connectionData:
        await this.clientSends(recorded);
        break;
      case serviceType.closeConnection:
        await this.clientLeaves(recorded.connectionId);
        break;
      case serviceType.ack: {
        // Other states were made up by the service of the recording.
        const ack = await this.askers.get(recorded.ackId)!.next(serviceType.ack);
        assert.equal(ack.ackId, recorded.ackId);
        if (recorded.status === 1)
          assert.deepEqual([ack.status, ack.message], [1, recorded.message]);
        this.count('ack');
        break;
      }
      case serviceType.errorCompletion: {
        let answer = await line?.next(recorded.type);
        // The service of the recording knew one client that is nowhere here.
        if (answer?.connectionId !== recorded.connectionId)
          answer = await line?.next(recorded.type);
        assert.deepEqual(answer, recorded);
        this.count('error completion');
        break;
      }
      case serviceType.ping:
        await this.ping(line, recorded.messages);
        break;
      default:
    }
  }

  private async ping(
    line: ScriptedAppServer | undefined,
    messages: readonly (string | null)[],
  ): Promise<void> {
    if (messages[1] !== 'finack' || line === undefined) return;
    // The service of the recording did not answer pings of another kind.
    while ((await line.next(serviceType.ping)).messages[1] !== 'finack');
    this.count('finack');
  }

  private async clientSends({ connectionId, payload }: ServiceMessageOf<6>): Promise<void> {
    const player = this.players.get(connectionId);
    if (player === undefined || player.isOver) return;
    if (player.client === undefined) {
      await this.clientStarts(player, payload);
      return;
    }
    if (player.line === undefined) return;
    player.client.socket.send(payload);
    const data = await player.line.next(serviceType.connectionData);
    assert.deepEqual([data.connectionId, data.payload], [player.id, payload]);
    this.count('data');
  }

  private async clientStarts(player: Player, payload: Buffer): Promise<void> {
    const { claims } = player.opened;
    const userId = new Map(claims).get('asrs.s.uid');
    const own = userId === undefined ? {} : { 'asrs.s.uid': userId };
    const token = await this.peer.token(`/client/?hub=${this.hub}`, own);
    const query = `?hub=${this.hub}&asrs.op=%2Fchat&access_token=${token}`;
    player.client = await RawClient.open(`${this.peer.url}/client/${query}`);
    player.client.socket.send(payload);
    if (!payload.toString().startsWith('{"protocol"')) return;
    const lines = [...this.lines.values()];
    // Whichever server connection the emulator chooses.
    const found = await Promise.any(
      lines.map(async (line) => ({ line, opened: await peek(line, serviceType.openConnection) })),
    );
    const { line, opened } = found;
    await line.next(serviceType.openConnection);
    const data = await line.next(serviceType.connectionData);
    assert.deepEqual(data.payload, payload);
    const named = (JSON.parse(payload.toString().split('\x1e')[0]!) as { protocol: string })
      .protocol;
    assert.equal(opened.protocol, named);
    assert.equal(opened.queryString, `?hub=${this.hub}&asrs.op=%2Fchat`);
    player.line = line;
    player.id = opened.connectionId;
    this.count('open');
  }

  private async clientLeaves(connectionId: string): Promise<void> {
    const player = this.players.get(connectionId);
    if (player?.client === undefined || player.isOver) return;
    player.isOver = true;
    player.client.socket.close();
    await player.line?.next(serviceType.closeConnection);
    this.count('close');
  }

  /** The message with the ids that clients have here. */
  private withOwnIds(message: ServiceMessage): ServiceMessage {
    const own = (id: string): string => this.players.get(id)?.id ?? id;
    const changed: Record<string, unknown> = { ...message };
    if ('connectionId' in message) changed['connectionId'] = own(message.connectionId ?? '');
    for (const name of ['connectionIds', 'excludedConnectionIds']) {
      const ids = changed[name] as readonly string[] | undefined;
      if (ids !== undefined) changed[name] = ids.map(own);
    }
    return changed as unknown as ServiceMessage;
  }
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

/** Waits for a message of a type and leaves it where it is. */
async function peek(
  { messages, socket }: ScriptedAppServer,
  type: typeof serviceType.openConnection,
): Promise<ServiceMessageOf<4>> {
  while (socket.readyState === WebSocket.OPEN) {
    const found = messages.find((message) => message.type === type);
    if (found !== undefined) return found;
    await soon();
  }
  throw new Error('no client is opened');
}

/** How much of each run there is to compare. */
const compared: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  main: { handshake: 9, open: 10, data: 46, ack: 6 },
  clients: { handshake: 3, open: 6, data: 25, ack: 2, close: 3, 'error completion': 1 },
  options: { handshake: 1, open: 1, data: 5 },
  'server-handshake': { handshake: 5, finack: 5 },
  'shutdown-wait': { handshake: 2, open: 1, data: 2, finack: 2, close: 1 },
  'shutdown-migrate': { handshake: 2, open: 1, data: 1, finack: 2, close: 1 },
};

describe('the real app server, as recorded', () => {
  for (const { name, sdk, events } of runs) {
    // How the app server takes a service that breaks the protocol.
    if (name === 'open-protocol') continue;
    it(`is answered in the run ${name} of ${sdk}`, async () => {
      const service = await startAzureSignalr({ mode: 'default' });
      const replay = new Replay(new EmulatorPeer(service.connectionString), events);
      try {
        await replay.run();
        for (const [id, { client, line, expected, isOver }] of replay.players) {
          if (client === undefined || (line === undefined && expected.length === 0)) continue;
          if (!isOver && expected.length > 0) {
            await until('what it gets', () => client.texts.length >= expected.length);
          } else {
            await client.closed;
          }
          assert.deepEqual(client.texts.slice(0, expected.length), expected, id);
        }
        for (const [what, count] of Object.entries(compared[name] ?? {})) {
          assert.equal(replay.done.get(what), count, what);
        }
      } finally {
        replay.close();
        await service.dispose();
      }
    });
  }
});
