import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** What an event handler answered, or a sentence that says why there is no answer. */
export type UpstreamAnswer =
  | {
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  | { readonly failure: string };

/** Largest answer; what goes to clients may not be larger either. */
const maxAnswerBytes = 1024 * 1024;

export interface UpstreamCall {
  readonly agent: Agent;
  readonly timeoutMs: number;
  readonly method: 'OPTIONS' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** One request to an event handler. Never rejects. */
export async function callUpstream(call: UpstreamCall): Promise<UpstreamAnswer> {
  const first = await attempt(call);
  // The handler may have closed an idle connection in the moment it was taken for the next event.
  return 'stale' in first ? attempt(call, true) : first;
}

function attempt(call: UpstreamCall, isLast: true): Promise<UpstreamAnswer>;
function attempt(call: UpstreamCall): Promise<UpstreamAnswer | { stale: true }>;
function attempt(
  { agent, timeoutMs, method, url, headers, body }: UpstreamCall,
  isLast = false,
): Promise<UpstreamAnswer | { stale: true }> {
  return new Promise((resolve) => {
    const outgoing = request(url, { agent, method, headers });
    const done = (answer: UpstreamAnswer | { stale: true }): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      done({ failure: `The event handler did not answer within ${timeoutMs / 1000} s.` });
      outgoing.destroy();
    }, timeoutMs);
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.reusedSocket && !isLast && error.code === 'ECONNRESET') done({ stale: true });
      else done({ failure: `The event handler could not be reached (${error.code ?? 'error'}).` });
    });
    outgoing.on('response', (answer) => readAnswer(answer, done));
    outgoing.end(body);
  });
}

function readAnswer(answer: IncomingMessage, done: (answer: UpstreamAnswer) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxAnswerBytes) {
      chunks.push(chunk);
    } else {
      done({ failure: `The event handler answered with more than ${maxAnswerBytes} bytes.` });
      answer.destroy();
    }
  });
  answer.on('error', () => done({ failure: 'The answer of the event handler broke off.' }));
  answer.on('end', () => {
    const { statusCode = 0, headers } = answer;
    done({ status: statusCode, headers, body: Buffer.concat(chunks) });
  });
}
