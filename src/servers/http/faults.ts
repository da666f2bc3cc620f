/** What somebody has sent ends their own connection at most, never a server that others use. */
import { HubMessageError } from '../../wire/message/hubMessage';

interface Reader {
  arrived(data: Buffer, isBinary: boolean): void;
  /** The handling of what came has failed for that reason: the connection ends. */
  failed(reason: string): void;
}

/** Hands on what a client has sent. */
export function hand(reader: Reader, data: Buffer, isBinary: boolean): void {
  try {
    reader.arrived(data, isBinary);
  } catch (error) {
    reader.failed(reasonOf(error));
  }
}

/** Type of the warnings about defects, which tests listen to. */
export const defectWarning = 'ServerDefect';

/** What the sender is told. An error that no input should cause is a defect: its stack goes to standard error. */
export function reasonOf(error: unknown): string {
  if (error instanceof HubMessageError) return error.message;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(text, defectWarning);
  return 'The server could not handle this message.';
}
