import {
  HttpTransportType,
  HubConnectionBuilder,
  LogLevel,
  type HubConnection,
} from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import type { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { until } from '../../../fakes/until';

/** What the official client can speak, and how. */
export const kinds = [
  { transport: HttpTransportType.WebSockets, protocol: 'json' },
  { transport: HttpTransportType.WebSockets, protocol: 'messagepack' },
  { transport: HttpTransportType.ServerSentEvents, protocol: 'json' },
  { transport: HttpTransportType.LongPolling, protocol: 'json' },
  { transport: HttpTransportType.LongPolling, protocol: 'messagepack' },
] as const;
export type Kind = (typeof kinds)[number];

/** An official client on its way to an emulator; it notes what `note` brings. */
export interface HubClient {
  readonly connection: HubConnection;
  readonly notes: unknown[][];
  readonly closed: Promise<Error | undefined>;
}

/** @param appUrl whose negotiate says where to go; without it the client has its own token */
export async function hubClient(
  peer: EmulatorPeer,
  hub: string,
  { transport, protocol }: Kind = kinds[0],
  claims: Readonly<Record<string, unknown>> = {},
  appUrl?: string,
): Promise<HubClient> {
  const token = await peer.token(`/client/?hub=${hub}`, claims);
  const direct = { transport, accessTokenFactory: (): string => token };
  const builder = new HubConnectionBuilder()
    .withUrl(
      appUrl ?? `${peer.url}/client/?hub=${hub}`,
      appUrl === undefined ? direct : { transport },
    )
    .configureLogging(LogLevel.None);
  if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol());
  const connection = builder.build();
  const notes: unknown[][] = [];
  connection.on('note', (...values: unknown[]) => notes.push(values));
  const closed = new Promise<Error | undefined>((resolve) => connection.onclose(resolve));
  return { connection, notes, closed };
}

/** Waits until the client has as many notes. */
export async function notesOf({ notes }: HubClient, count: number): Promise<unknown[][]> {
  await until(`${count} notes`, () => notes.length >= count);
  return notes;
}
