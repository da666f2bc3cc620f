import {
  clientHead,
  clientIdAt,
  plainTail,
  type ServiceOutput,
} from '../../wire/service/serviceStream';
import {
  flowConnectionType,
  flowOperation,
  serviceType,
  type ServiceMessage,
  dataType,
} from '../../wire/service/serviceMessage';
import { payloadEnd, payloadStart } from '../hubProtocol/serverFrame';
import type { HubTransport, TransportOwner } from '../http/webSocketTransport';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';
import { prefixBytes } from '../../wire/message/messagePackFraming';
import { hubMessageType } from '../../wire/message/hubMessage';

/** The server connection through which a client comes. */
export interface ClientLine extends Pick<ServiceOutput, 'payloads'> {
  readonly isOpen: boolean;
  /** Those that come through it. */
  readonly clients: Map<string, ServiceClient>;
  send(message: ServiceMessage): void;
  /** Sends ConnectionData; see {@link ServiceOutput.connectionData}. */
  data(id: Buffer, type: number, payload: Buffer, start: number, end: number): void;
}

/** A client of the service, as it comes to the hub through one server connection. */
export class ServiceClient implements HubTransport {
  readonly hasOwnKeepAlive = false;
  readonly carriesBinary = true;
  /** The id in MessagePack. */
  private readonly encodedId: Buffer;
  private readonly head: Buffer;
  private owner: TransportOwner | undefined;
  /** What may not be written yet; present while the service has paused this client. */
  private held: Buffer[] | undefined;
  private heldBytes = 0;
  private isPaused = false;
  private hasLeft = false;
  private isOver = false;

  /** @param instanceId of the service, where the client is connected */
  constructor(
    readonly id: string,
    readonly connection: ClientLine,
    readonly instanceId: string | undefined,
  ) {
    this.head = clientHead(id);
    this.encodedId = this.head.subarray(clientIdAt);
  }

  attach(owner: TransportOwner): void {
    this.owner = owner;
  }

  get unreadBytes(): number {
    return this.heldBytes;
  }

  get isWritable(): boolean {
    return !this.isOver && this.connection.isOpen;
  }

  /** Data of the client has come. */
  received(payload: Buffer): void {
    if (this.isPaused) {
      // The other clients of the connection go on, so what this one sends has to wait here, bounded.
      this.heldBytes += payload.length;
      if (this.owner?.hasRoom() !== true) return;
    }
    this.owner?.arrived(payload, true);
  }

  write(frames: Buffer): void {
    if (this.held !== undefined) {
      this.held.push(frames);
      this.heldBytes += frames.length;
      return;
    }
    for (let at = 0; at < frames.length; at = payloadEnd(frames, at)) {
      const start = payloadStart(frames, at);
      const end = payloadEnd(frames, at);
      this.connection.data(this.encodedId, hubDataType(frames, start, end), frames, start, end);
    }
  }

  /** Sends a frame from hub code, which does not travel as an answer does. */
  call(protocol: ServerProtocol, frame: Buffer): void {
    const payload = frame.subarray(payloadStart(frame, 0));
    this.connection.payloads(this.head, [[protocol.name, payload]], plainTail);
  }

  close(): void {
    if (this.isOver) return;
    if (this.held !== undefined) this.release();
    if (!this.hasLeft) {
      const { id: connectionId } = this;
      this.connection.send({ type: serviceType.closeConnection, connectionId, errorMessage: '' });
    }
    this.gone();
  }

  terminate(): void {
    this.close();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    if (this.held === undefined) this.heldBytes = 0;
  }

  tick(): void {
    // Time-outs are those of the hub and of the server connection.
  }

  /** The service wants nothing more to be written for this client, or goes on. */
  control(operation: number): void {
    if (operation === flowOperation.pause && this.held === undefined) {
      this.held = [];
      this.connection.send({
        type: serviceType.connectionFlowControl,
        connectionId: this.id,
        connectionType: flowConnectionType.client,
        operation: flowOperation.pauseAck,
      });
    } else if (operation === flowOperation.resume) {
      this.release();
    }
  }

  /** The service has ended this client: what the hub writes to it is lost, and its end is no news. */
  left(): void {
    this.hasLeft = true;
  }

  /** It is over without a word. */
  gone(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.connection.clients.delete(this.id);
    this.owner?.gone();
  }

  private release(): void {
    const { held } = this;
    this.held = undefined;
    this.heldBytes = 0;
    for (const frames of held ?? []) this.write(frames);
  }
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const digitZero = 0x30;
/** `{"type":` is how our JSON messages begin. */
const typeAt = 8;

/** What the service hears about a hub message of ours, which begins at `start`. */
export function hubDataType(bytes: Buffer, start: number, end: number): number {
  const second = bytes[start + 1];
  if (bytes[start] === openBrace && (second === quote || second === closeBrace)) {
    const isMessage = second === quote && bytes[start + 2] === 0x74;
    return isMessage ? typeOf(bytes[start + typeAt]! - digitZero) : dataType.handshake;
  }
  const prefix = prefixBytes(bytes, start, end);
  // The length, the head of the array, and the type.
  return typeof prefix === 'string' ? dataType.unknown : typeOf(bytes[start + prefix + 1]!);
}

function typeOf(type: number): number {
  if (type === hubMessageType.ping) return dataType.other;
  return type === hubMessageType.close ? dataType.close : dataType.invocation;
}
