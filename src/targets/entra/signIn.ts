import { Emitter } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import type { SignedInPass } from '../../base/endpoint';
import type { Passes } from '../target';
import type { EntraToken } from './entraToken';

/** A token is renewed so long before its end; until 5 minutes before it, az and others keep the old one. */
const marginMs = 4 * 60_000;
/** A key that is lent ends after 90 minutes; to renew it once an hour is what its document advises. */
const longestMs = 55 * 60_000;
/** After a failure, and when the same token came again. */
const shortestMs = 10_000;

/** When to renew a token, in milliseconds from now. */
export function renewInMs(expiresAtMs: number, nowMs: number): number {
  const leftMs = expiresAtMs - nowMs - marginMs;
  return leftMs > 0 ? Math.min(longestMs, leftMs) : shortestMs;
}

/** Somebody who has signed in, and stays so until it is disposed. */
export class SignIn implements Passes {
  private readonly renewals = new Emitter<SignedInPass>();
  private readonly problems = new Emitter<string>();
  readonly onRenewed = this.renewals.event;
  readonly onProblem = this.problems.event;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  private constructor(
    private pass: SignedInPass,
    expiresAtMs: number,
    private readonly ways: SignInWays,
  ) {
    this.note(pass);
    this.renewLater(renewInMs(expiresAtMs, Date.now()));
  }

  /** @throws ExpectedError when there is no token, or nothing for it */
  static async open(ways: SignInWays): Promise<SignIn> {
    const { token, expiresAtMs } = await ways.token();
    ways.secrets.push(token);
    return new SignIn(await ways.passFor(token), expiresAtMs, ways);
  }

  get current(): SignedInPass {
    return this.pass;
  }

  dispose(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.renewals.dispose();
    this.problems.dispose();
  }

  private renewLater(inMs: number): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => void this.renew(), inMs);
    // It must not keep a process whose run is over.
    this.timer.unref();
  }

  private async renew(): Promise<void> {
    let inMs = shortestMs;
    try {
      const { token, expiresAtMs } = await this.ways.token();
      this.ways.secrets.push(token);
      const pass = await this.ways.passFor(token);
      if (this.isOver) return;
      this.note(pass);
      this.pass = pass;
      this.renewals.fire(pass);
      inMs = renewInMs(expiresAtMs, Date.now());
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      this.problems.fire(`The sign-in could not be renewed. ${error.message}`);
    }
    this.renewLater(inMs);
  }

  /** What must not be shown from now on. */
  private note({ bearer, signingKey }: SignedInPass): void {
    const { secrets } = this.ways;
    const values = [bearer, ...(signingKey === undefined ? [] : [signingKey.text])];
    for (const value of values.flatMap((each) => [each, encodeURIComponent(each)]))
      if (!secrets.includes(value)) secrets.push(value);
  }
}

/** How to sign in and what for. */
export interface SignInWays {
  token(): Promise<EntraToken>;
  /** What a token is good for at the service. */
  passFor(bearer: string): Promise<SignedInPass>;
  /** Grows with all that must not be shown. */
  readonly secrets: string[];
}
