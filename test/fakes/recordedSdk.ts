import { readFileSync } from 'node:fs';
import path from 'node:path';
import { HubMessageError } from '../../src/wire/message/hubMessage';
import { bodyLengthAt, prefixBytes } from '../../src/wire/message/messagePack';
import { readServiceMessage, type ServiceMessage } from '../../src/wire/service/serviceMessage';

export interface RecordedEvent {
  readonly direction: string;
  readonly kind: string;
  readonly conn?: number;
  readonly base64?: string;
  readonly decoded?: unknown;
}
interface Recording {
  readonly runs: readonly {
    readonly name: string;
    readonly sdk: string;
    readonly events: readonly RecordedEvent[];
  }[];
}

/** What the SDK's app server and a service said to each other. */
export const { runs } = JSON.parse(
  readFileSync(path.resolve('test', 'fixtures', 'azure', 'azure-app-server-session.json'), 'utf8'),
) as Recording;

/** Of an event, if it is one; one frame of the recorded service is broken on purpose. */
export function messageOf({ base64 = '' }: RecordedEvent): ServiceMessage | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const prefix = prefixBytes(bytes, 0, bytes.length);
  if (typeof prefix === 'string') return undefined;
  try {
    return readServiceMessage(bytes, prefix, prefix + bodyLengthAt(bytes, 0, prefix));
  } catch (error) {
    if (error instanceof HubMessageError) return undefined;
    throw error;
  }
}
