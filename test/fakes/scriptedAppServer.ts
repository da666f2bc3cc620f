import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { framePayload } from '../../src/servers/hubProtocol/serverProtocol';
import { hubMessageType } from '../../src/wire/message/hubMessage';
import { jsonProtocol, messagePackProtocol } from '../../src/servers/hubProtocol/protocols';
import { ServiceFrames } from '../../src/wire/service/serviceStream';
import {
  serviceType,
  readServiceMessage,
  encodeServiceMessage,
  type ServiceMessage,
  type ServiceMessageOf,
  type ServiceTypeNumber,
} from '../../src/wire/service/serviceMessage';
import type { EmulatorPeer } from './emulatorPeer';

const separator = 0x1e;

/** One server connection that does what the test says, and can echo by itself. */
export class ScriptedAppServer {
  /** Everything received and not taken yet, in order; plain pings are left out. */
  readonly messages: ServiceMessage[] = [];
  readonly closed: Promise<number>;
  /** Answers hub handshakes, and invocations with their first argument. */
  echoes = false;
  private readonly protocols = new Map<string, string>();
  private readonly greeted = new Set<string>();
  private wake: () => void = () => undefined;

  constructor(readonly socket: WebSocket) {
    const frames = new ServiceFrames(1 << 24, (bytes, start, end) => {
      const message = readServiceMessage(bytes, start, end);
      if (message !== undefined) this.received(message);
    });
    socket.on('message', (data: Buffer) => frames.push(data));
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
  }

  /** Opens the WebSocket and says nothing. */
  static async open(
    peer: EmulatorPeer,
    hub: string,
    serverId = 'server',
  ): Promise<ScriptedAppServer> {
    const token = await peer.token(`/server/?hub=${hub}`, { nameid: serverId });
    const url = `${peer.url.replace('http', 'ws')}/server/?hub=${hub}&cid=${crypto.randomUUID()}`;
    const headers = { Authorization: `Bearer ${token}`, 'X-ASRS-Server-Id': serverId };
    const server = new ScriptedAppServer(new WebSocket(url, { headers, perMessageDeflate: false }));
    await once(server.socket, 'open');
    return server;
  }

  /** Opens and shakes hands. */
  static async connect(
    peer: EmulatorPeer,
    hub: string,
    serverId = 'server',
    connectionType = 0,
  ): Promise<ScriptedAppServer> {
    const server = await ScriptedAppServer.open(peer, hub, serverId);
    server.shakeHands(connectionType);
    const { errorMessage } = await server.next(serviceType.handshakeResponse);
    assert.equal(errorMessage, '');
    return server;
  }

  shakeHands(connectionType = 0): void {
    const type = serviceType.handshakeRequest;
    this.send({ type, version: 1, connectionType, target: '', migrationLevel: 0 });
  }

  send(...messages: readonly ServiceMessage[]): void {
    this.socket.send(Buffer.concat(messages.map(encodeServiceMessage)));
  }

  data(connectionId: string, text: string | Buffer, isPartial = false): void {
    const payload = Buffer.from(text);
    this.send({ type: serviceType.connectionData, connectionId, payload, dataType: 2, isPartial });
  }

  /** The next message of a type; those before it are dropped. */
  async next<Type extends ServiceTypeNumber>(type: Type): Promise<ServiceMessageOf<Type>> {
    for (;;) {
      const message = this.messages.shift();
      if (message?.type === type) return message as ServiceMessageOf<Type>;
      if (message === undefined) await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Waits for a new client and answers its hub handshake; returns what it opened with. */
  async welcome(): Promise<ServiceMessageOf<4>> {
    const opened = await this.next(serviceType.openConnection);
    const { payload } = await this.next(serviceType.connectionData);
    assert.equal(payload.at(-1), separator);
    this.data(opened.connectionId, '{}\x1e');
    return opened;
  }

  close(): Promise<number> {
    this.socket.close(1000);
    return this.closed;
  }

  private received(message: ServiceMessage): void {
    if (message.type === serviceType.ping && message.messages.length === 0) return;
    if (this.echoes) this.serve(message);
    this.messages.push(message);
    this.wake();
  }

  private serve(message: ServiceMessage): void {
    if (message.type === serviceType.openConnection) {
      this.protocols.set(message.connectionId, message.protocol ?? '');
    }
    if (message.type !== serviceType.connectionData) return;
    const { connectionId, payload } = message;
    const protocol =
      this.protocols.get(connectionId) === 'json' ? jsonProtocol : messagePackProtocol;
    let start = 0;
    if (!this.greeted.has(connectionId)) {
      this.greeted.add(connectionId);
      this.data(connectionId, '{}\x1e');
      start = payload.indexOf(separator) + 1;
    }
    while (start < payload.length) {
      const end = protocol.messageEnd(undefined, payload, start, payload.length);
      assert.ok(typeof end === 'number', 'a hub message in pieces');
      const call = protocol.read(payload, start, end);
      start = end;
      if (call?.type !== hubMessageType.invocation || call.invocationId === undefined) continue;
      const text = protocol.text(call.argument(0)) ?? null;
      this.data(connectionId, framePayload(protocol.resultFrame(call.invocationId, text)));
    }
  }
}
