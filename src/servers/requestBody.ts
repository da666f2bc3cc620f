import type { IncomingMessage, ServerResponse } from 'node:http';

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
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    tooLong();
    return;
  }
  request.on('data', (chunk: Buffer) => {
    if (length > maxBytes) return;
    length += chunk.length;
    if (length <= maxBytes) {
      chunks.push(chunk);
    } else {
      chunks.length = 0;
      tooLong();
    }
  });
  request.on('end', () => {
    if (length <= maxBytes) take(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length));
  });
}
