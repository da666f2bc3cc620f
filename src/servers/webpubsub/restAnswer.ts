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
    /** What of the request is at fault. */
    readonly target = 'Request',
  ) {
    super(message);
  }
}

/** What the service calls everything that is wrong with a request. */
export const badRequest = 'Error.BadRequest';

/** A parameter that is refused for its form. */
export class ParameterError extends RestError {
  constructor(parameter: string, message: string) {
    super(400, badRequest, message, parameter);
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

/** The forms of the service's errors, as it answered the tests of the SDK for JavaScript. */
export function errorAnswer(error: RestError): RestAnswer {
  const { status, code, message, target } = error;
  const headers = { 'x-ms-error-code': code };
  if (!(error instanceof ParameterError)) {
    return { status, body: { code, message, target, details: null, innererror: null }, headers };
  }
  const title = 'One or more validation errors occurred.';
  const problem = { type: null, title, status, detail: null, instance: null, extensions: {} };
  return {
    status,
    body: { code, message, target, errors: { [target]: [message] }, ...problem },
    headers: { ...headers, 'Content-Type': 'application/problem+json; charset=utf-8' },
  };
}
