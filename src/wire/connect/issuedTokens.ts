import type { ClientTokens } from './accessTokens';
import { ConnectFailure } from './connectFailure';
import type { RestCalls } from '../rest/restCalls';

/** Tokens of clients that Azure Web PubSub signs itself: an application that has signed in has no key. */
export class IssuedTokens implements ClientTokens {
  readonly areIssued = true;

  constructor(private readonly calls: Pick<RestCalls, 'clientToken'>) {}

  async forClient(index: number, signal: AbortSignal): Promise<string> {
    const issued = await this.calls.clientToken(index, signal);
    if (typeof issued === 'string') return issued;
    throw new ConnectFailure(issued.errorClass, issued.text);
  }
}
