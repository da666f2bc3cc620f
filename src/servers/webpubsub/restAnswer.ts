import type { ServerResponse } from 'node:http';

/** The answer to a REST call. */
export interface RestAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call that is refused: the code is for programs, the sentence for people. */
export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function writeAnswer(response: ServerResponse, { status, body, headers }: RestAnswer): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, {
    ...(body !== undefined && { 'Content-Type': 'application/json; charset=utf-8' }),
    // An answer without a body has no length when the status says so (RFC 9110, 8.6).
    ...(status !== 204 && { 'Content-Length': Buffer.byteLength(text) }),
    ...headers,
  });
  response.end(text);
}

/** The form of the service's errors. */
export const errorAnswer = ({ status, code, message }: RestError): RestAnswer => ({
  status,
  body: { code, message },
  headers: { 'x-ms-error-code': code },
});
