import {
  AbortError,
  HttpClient,
  HttpResponse,
  TimeoutError,
  type HttpRequest,
} from '@microsoft/signalr';
import { ConnectFailure, failureFromResponse, failureFromRequestError } from '../connectFailure';
import { readNegotiation } from '../connect/connectHub';
import { addCookies, isRedirect, redirectedHub } from '../http/negotiationRequest';
import { HeldBytes } from '../socket/frameReader';
import { lengthOf, type SdkOwner } from './sdkSockets';

const maximumNegotiateBytes = 256 * 1024;
/** As in `fetch`, which the client would use. */
const maximumRedirects = 20;

type Purpose = 'negotiate' | 'poll' | 'send' | 'end';

/**
 * Makes the HTTP requests of the official client, whose default supports no proxies, certificates or authorities.
 * Failures get our error classes.
 */
export class SdkHttpClient extends HttpClient {
  private polled = false;
  /** Negotiating again gives a new token. */
  private renewable = false;
  private token: string | undefined;

  constructor(private readonly owner: SdkOwner) {
    super();
  }

  override async send(request: HttpRequest): Promise<HttpResponse> {
    const url = new URL(request.url ?? '');
    const purpose = purposeOf(request, url);
    const { content } = request;
    if (purpose === 'send') this.owner.sending(content);
    try {
      const answer = await this.ask(request, url, purpose);
      if (purpose === 'negotiate') {
        this.owner.stopwatch?.done('negotiate');
        const hub = new URL(url);
        hub.pathname = hub.pathname.replace(/\/negotiate$/, '');
        const said = readNegotiation(answer.content as string, this.owner.endpoint, hub);
        this.renewable ||= said.accessToken !== undefined;
      }
      if (purpose === 'poll' && !this.polled) {
        this.polled = true;
        this.owner.stopwatch?.done('upgrade');
      }
      return answer;
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      throw purpose === 'end' ? error : this.owner.failed(error);
    } finally {
      if (purpose === 'send') this.owner.sent(lengthOf(content));
    }
  }

  override getCookieString(): string {
    return '';
  }

  private async ask(request: HttpRequest, first: URL, purpose: Purpose): Promise<HttpResponse> {
    let url = first;
    let headers: Record<string, string> = { ...request.headers, ...bearer(this.token) };
    let renewed = false;
    for (let tries = 0; tries <= maximumRedirects; tries++) {
      const { response, body } = await this.exchange(request, url, headers, purpose);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (purpose === 'negotiate' && location !== undefined && isRedirect(status)) {
        const next = redirectedHub(this.owner.endpoint, url, location);
        next.pathname = `${next.pathname.replace(/\/$/, '')}/negotiate`;
        // Credentials belong to one origin; a redirect must not carry them to another.
        if (next.origin !== url.origin) headers = {};
        url = next;
        continue;
      }
      if (status === 401 && this.renewable && !renewed && purpose !== 'negotiate') {
        renewed = true;
        this.token = (await this.owner.renew()) ?? this.token;
        headers = { ...headers, ...bearer(this.token) };
        continue;
      }
      if (status < 200 || status > 299)
        throw failureFromResponse(
          purpose,
          response,
          url,
          purpose === 'negotiate' ? purpose : 'request',
        );
      const content = request.responseType === 'arraybuffer' ? exactly(body) : body.toString();
      return new HttpResponse(status, response.statusMessage ?? '', content);
    }
    throw new ConnectFailure('negotiate', `negotiate: more than ${maximumRedirects} redirects`);
  }

  private async exchange(
    { method = 'GET', content, abortSignal, timeout = 0 }: HttpRequest,
    url: URL,
    given: Readonly<Record<string, string>>,
    purpose: Purpose,
  ): Promise<Answer> {
    const { agents, cookies, signal, maximumBytes: largest } = this.owner;
    const headers: Record<string, string> = { ...given, 'X-Requested-With': 'XMLHttpRequest' };
    if (content !== undefined && content !== '')
      headers['Content-Type'] =
        typeof content === 'string' ? 'text/plain;charset=UTF-8' : 'application/octet-stream';
    if (method !== 'GET') headers['Content-Length'] = String(lengthOf(content));
    addCookies(headers, cookies.headerFor(url));
    const isNegotiation = purpose === 'negotiate';
    const maximumBytes = isNegotiation ? maximumNegotiateBytes : largest;
    const text = `${purpose}: the answer is above the limit of ${maximumBytes} bytes`;
    const tooLong = () => new ConnectFailure(isNegotiation ? 'negotiate' : 'protocol', text);
    const body = content instanceof ArrayBuffer ? Buffer.from(content) : content;
    const stop = new AbortController();
    const timer = timeout > 0 ? setTimeout(() => stop.abort(new TimeoutError()), timeout) : 0;
    if (abortSignal !== undefined) abortSignal.onabort = () => stop.abort(new AbortError());
    const over = (): void => stop.abort(signal.reason);
    signal.addEventListener('abort', over);
    if (signal.aborted) over();
    const holding = new HeldBytes(this.owner.unfinished, (failure) => stop.abort(failure));
    const bounds = { signal: stop.signal, maximumBytes, tooLong, holding };
    try {
      const answer = await agents.exchange(url, { method, headers, body, ...bounds });
      cookies.take(answer.response.headers['set-cookie'] ?? [], url);
      return answer;
    } catch (error) {
      const cause: unknown = stop.signal.aborted ? stop.signal.reason : error;
      throw failureOf(cause, purpose, url, signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
    }
  }
}

type Answer = Awaited<ReturnType<SdkOwner['agents']['exchange']>>;

function purposeOf({ method }: HttpRequest, url: URL): Purpose {
  if (method === 'DELETE') return 'end';
  if (method === 'GET') return 'poll';
  return url.searchParams.has('id') ? 'send' : 'negotiate';
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

function failureOf(error: unknown, purpose: Purpose, url: URL, signal: AbortSignal): Error {
  // The client polls again after a timeout.
  const isLate = error instanceof TimeoutError;
  if (error instanceof AbortError || (isLate && purpose === 'poll')) return error;
  return failureFromRequestError(error, purpose, url, isLate || signal.aborted);
}

/** The client needs an ArrayBuffer of exactly that length. */
function exactly(body: Buffer): ArrayBuffer {
  return new Uint8Array(body).buffer;
}
