import type { IncomingMessage, ServerResponse } from 'node:http';
import { ByteRest } from '../../wire/socket/byteRest';

/**
 * Reads the body of a request, up to a bound.
 * @param take gets the whole body; not called for a request that breaks off
 * @param tooLong answers a request with a longer one
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  take: (body: Buffer) => void,
  tooLong: () => void,
): void {
  const body = new ByteRest();
  let isTooLong = false;
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    tooLong();
    return;
  }
  request.on('data', (chunk: Buffer) => {
    if (isTooLong) return;
    isTooLong = body.length + chunk.length > maxBytes;
    if (!isTooLong) {
      body.append(chunk);
    } else {
      body.take();
      tooLong();
    }
  });
  request.on('end', () => {
    if (!isTooLong) take(body.take());
  });
}
