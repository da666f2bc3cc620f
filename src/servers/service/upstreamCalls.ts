import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { ByteRest } from '../../wire/socket/byteRest';

/** What an upstream handler answered, or a sentence that says why there is no answer. */
export type UpstreamAnswer = AnsweredUpstream | { readonly failure: string };

export interface AnsweredUpstream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface UpstreamCall {
  readonly method: 'OPTIONS' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

export interface UpstreamLimits {
  /** For each answer. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

/** Sockets to handlers that are open at once; further events wait for one. */
const maxSockets = 256;

type Outcome = UpstreamAnswer | { readonly isStale: true };

/** The requests with which an emulator tells the application of events, over sockets that stay open. */
export class UpstreamCalls {
  private readonly agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets }),
  };

  constructor(private readonly limits: UpstreamLimits) {}

  /** Never rejects. */
  async call(call: UpstreamCall): Promise<UpstreamAnswer> {
    const first = await this.attempt(call);
    if (!('isStale' in first)) return first;
    // The handler may have closed an idle connection in the moment it was taken for the next event.
    const second = await this.attempt(call);
    return 'isStale' in second ? unreachable('ECONNRESET') : second;
  }

  dispose(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  private attempt(call: UpstreamCall): Promise<Outcome> {
    const { timeoutMs, maxAnswerBytes } = this.limits;
    return new Promise((resolve) => {
      const request = this.request(call);
      const done = (outcome: Outcome): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      const timer = setTimeout(() => {
        done({ failure: `The upstream handler did not answer within ${timeoutMs / 1000} s.` });
        request.destroy();
      }, timeoutMs);
      request.on('error', ({ code = 'error' }: NodeJS.ErrnoException) => {
        done(request.reusedSocket && code === 'ECONNRESET' ? { isStale: true } : unreachable(code));
      });
      request.on('response', (answer) => readAnswer(answer, maxAnswerBytes, done));
      request.end(call.body);
    });
  }

  private request({ url, method, headers }: UpstreamCall): ClientRequest {
    return url.protocol === 'https:'
      ? httpsRequest(url, { agent: this.agents['https:'], method, headers })
      : httpRequest(url, { agent: this.agents['http:'], method, headers });
  }
}

const unreachable = (code: string): UpstreamAnswer => ({
  failure: `The upstream handler could not be reached (${code}).`,
});

function readAnswer(
  answer: IncomingMessage,
  maxBytes: number,
  done: (answer: UpstreamAnswer) => void,
): void {
  const body = new ByteRest();
  answer.on('data', (chunk: Buffer) => {
    if (body.length + chunk.length <= maxBytes) {
      body.append(chunk);
    } else {
      done({ failure: `The upstream handler answered with more than ${maxBytes} bytes.` });
      answer.destroy();
    }
  });
  answer.on('error', () => done({ failure: 'The answer of the upstream handler broke off.' }));
  answer.on('end', () => {
    const { statusCode = 0, headers } = answer;
    done({ status: statusCode, headers, body: body.take() });
  });
}
