import { shownText } from '../connect/connectFailure';

/** What an answer of a REST API holds. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The JSON object of an answer; undefined when it is none. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The service's own sentence, where its answer has one. */
export function reasonIn(answer: string): string {
  try {
    const { message } = JSON.parse(answer) as { message?: unknown };
    return typeof message === 'string' && message !== '' ? `: ${shownText(message)}` : '';
  } catch {
    return '';
  }
}
