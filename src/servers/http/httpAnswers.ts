import type { ServerResponse } from 'node:http';
import type { Refusal } from './hubGate';

/** Answers a request with what speaks against it. */
export function refuse(response: ServerResponse, { status, text, headers }: Refusal): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', ...headers });
  response.end(text);
}

/** Answers 200 with JSON. */
export function answerJson(response: ServerResponse, answer: object): void {
  const body = JSON.stringify(answer);
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
