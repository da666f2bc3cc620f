/** Identities of a command or a token endpoint: each is called for once before connections open, and again before its token expires. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint, IdentityRow } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { inBackground, Emitter } from '../../base/async';
import { redacted, replaceSecretArguments, hideSecrets } from '../../base/secrets';
import { ExpectedError } from '../../base/expectedError';
import {
  type Row,
  fillPersonalText,
  type PlaceholderValues,
  type PersonalPart,
} from '../../base/personalText';
import { formatCount } from '../../base/units';
import { renewalLeadMs } from '../../wire/connect/signingKey';
import {
  errorClassForStatus,
  ConnectFailure,
  failureFromRequestError,
  shownError,
  shownUrl,
} from '../../wire/connectFailure';
import { parseObject } from '../../wire/message/jsonScan';
import { SocketAgents } from '../../wire/socket/socket';
import { jwtExpiryMs, type IdentityCalls, type TargetContext } from '../target';
import type { IdentityRequest } from './resolveIdentities';
import { CommandFailure, runCommand } from './runCommand';
import { secretForms } from './rowSecrets';

const mostAnswerBytes = 64 * 1024;
/** Before a token that could not be renewed is asked for once more; sooner, while it lives, where that is short. */
const againMs = 30_000;
/** No more often than that, whatever tokens say of themselves. */
const shortestRenewalMs = 1000;
const longestTimerMs = 2 ** 31 - 1;

/** What goes by the clock; tests put one of their own in its place. */
export interface CallClock {
  readonly nowMs: () => number;
  /** Settles then, or when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const realClock: CallClock = {
  // No step of the system time moves it.
  nowMs: () => performance.timeOrigin + performance.now(),
  sleep: (ms, signal) =>
    sleep(Math.min(ms, longestTimerMs), undefined, { signal, ref: false }).catch(() => undefined),
};

type Positioned = readonly [position: number, row: IdentityRow];

export class IdentityCaller implements IdentityCalls {
  private readonly renewals = new Emitter<readonly Positioned[]>();
  private readonly problems = new Emitter<string>();
  readonly onRenewed = this.renewals.event;
  readonly onProblem = this.problems.event;
  private readonly over = new AbortController();
  private readonly agents: SocketAgents;
  private readonly rows: IdentityRow[] = [];
  private readonly secrets: readonly string[];

  /** @param check throws ExpectedError where a row has not what the scenario needs of it */
  constructor(
    private readonly call: IdentityRequest,
    private readonly endpoint: Endpoint,
    private readonly context: Pick<TargetContext, 'commandFolder'>,
    private readonly check: (row: IdentityRow) => void,
    private readonly clock: CallClock = realClock,
  ) {
    const { ca, proxies, insecureTls } = endpoint;
    this.agents = new SocketAgents({ ca, proxies, insecureTls }, call.spec.inFlight);
    // URLs are shown without what may be secret.
    const given = [...Object.values(call.texts), call.body ?? []]
      .flat()
      .filter((part) => typeof part === 'string');
    const command = call.spec.kind === 'command' ? call.spec.command : [];
    replaceSecretArguments(command, (secret) => {
      given.push(secret);
      return redacted;
    });
    this.secrets = secretForms(given);
  }

  get current(): readonly IdentityRow[] {
    return this.rows;
  }

  async first(): Promise<readonly IdentityRow[]> {
    const row = await this.rowOf(0);
    if (row.failed !== undefined)
      throw new ExpectedError(
        row.failed.isDown === true ? 'identities-unreachable' : 'identities',
        `The first identity could not be had: ${row.failed.message.replace(/\.$/, '')}. Nothing was started.`,
      );
    this.check(row);
    this.rows[0] = row;
    return this.rows;
  }

  async all(progress: (done: number, count: number) => void): Promise<string | undefined> {
    const { count } = this.call;
    let done = 1;
    const others = Array.from({ length: count - 1 }, (_, at) => at + 1);
    // Pauses between calls keep no process alive, and before the load there may be nothing else that does.
    const alive = setInterval(() => undefined, longestTimerMs);
    try {
      await this.each(others, (position, row) => {
        this.rows[position] = row;
        progress(++done, count);
      });
    } finally {
      clearInterval(alive);
    }
    this.over.signal.throwIfAborted();
    inBackground(this.keepFresh(), (error) => {
      const why = hideSecrets(shownError(error), this.secrets);
      this.problems.fire(`Identities are no longer renewed: ${why}`);
    });
    return failuresIn(this.rows, `of ${formatCount(count)} identities could not be had`);
  }

  dispose(): void {
    this.over.abort(new Error('the run is over'));
    this.agents.destroy();
    this.renewals.dispose();
    this.problems.dispose();
  }

  /** As many at a time, and beginning as often, as the scenario says. */
  private async each(
    positions: readonly number[],
    take: (position: number, row: IdentityRow) => void,
  ): Promise<void> {
    const { clock, over } = this;
    const { inFlight, rate } = this.call.spec;
    const going = new Set<Promise<void>>();
    const startMs = clock.nowMs();
    for (const [at, position] of positions.entries()) {
      const waitMs = startMs + (at * 1000) / rate - clock.nowMs();
      if (waitMs > 0) await clock.sleep(waitMs, over.signal);
      while (going.size >= inFlight) await Promise.race(going);
      if (over.signal.aborted) break;
      const work: Promise<void> = this.rowOf(position).then((row) => {
        going.delete(work);
        if (!over.signal.aborted) take(position, row);
      });
      going.add(work);
    }
    await Promise.all(going);
  }

  private async keepFresh(): Promise<void> {
    const { clock, over, rows } = this;
    const dueMs = rows.map((row) => this.renewalOf(row));
    for (;;) {
      const nextMs = dueMs.reduce((least, each) => Math.min(least, each), Infinity);
      if (nextMs === Infinity) return;
      await clock.sleep(Math.max(0, nextMs - clock.nowMs()), over.signal);
      if (over.signal.aborted) return;
      const nowMs = clock.nowMs();
      const due = rows.flatMap((_row, position) =>
        dueMs[position]! <= nowMs + shortestRenewalMs ? [position] : [],
      );
      const failed: IdentityRow[] = [];
      await this.each(due, (position, row) => {
        if (row.failed !== undefined) {
          failed.push(row);
          dueMs[position] = clock.nowMs() + againIn(rows[position]!, clock.nowMs());
          return;
        }
        rows[position] = row;
        dueMs[position] = this.renewalOf(row);
        this.renewals.fire([[position, row]]);
      });
      const problem = failuresIn(
        failed,
        `of ${formatCount(due.length)} tokens could not be renewed`,
      );
      if (problem !== undefined) this.problems.fire(problem);
    }
  }

  private renewalOf({ expiresMs, failed }: IdentityRow): number {
    const nowMs = this.clock.nowMs();
    // Who was not let in is not there: its connection has failed.
    if (failed !== undefined || expiresMs === undefined) return Infinity;
    return Math.max(nowMs + shortestRenewalMs, expiresMs - renewalLeadMs(expiresMs - nowMs));
  }

  private async rowOf(index: number): Promise<IdentityRow> {
    const { data } = this.endpoint.personal ?? {};
    const row = data?.shared === false ? data.rows[index % data.rows.length] : undefined;
    const facts: PlaceholderValues = { index, data: row, nowMs: this.clock.nowMs() };
    try {
      const answer =
        this.call.spec.kind === 'command' ? await this.run(facts) : await this.ask(facts);
      return rowIn(answer, this.clock.nowMs());
    } catch (error) {
      const { message, ...failure } = failureOf(error);
      return { values: {}, failed: { ...failure, message: hideSecrets(message, this.secrets) } };
    }
  }

  private run(facts: PlaceholderValues): Promise<string> {
    const { call, context, over } = this;
    const { commandFolder: folder } = context;
    if (folder === undefined)
      throw new CommandFailure(
        'identities of a command are not made here: start the run where the scenario may run programs, on one machine',
      );
    const words = call.what.map((parts) => fillPersonalText(parts, facts));
    const env = filledTexts(call.texts, facts);
    const { timeoutMs } = call.spec;
    return runCommand(words, { folder, env, timeoutMs, mostBytes: mostAnswerBytes }, over.signal);
  }

  private async ask(facts: PlaceholderValues): Promise<string> {
    const { call, agents, over } = this;
    const { spec, what, texts, body: parts } = call;
    if (spec.kind !== 'url') throw new Error('no endpoint to ask');
    const url = urlOf(fillPersonalText(what[0]!, facts, encodeURIComponent));
    const headers = filledTexts(texts, facts);
    const body = parts && bodyIn(parts, facts);
    const named = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
    if (body !== undefined && !named) headers['Content-Type'] = body.type;
    const content = spec.method === 'GET' ? undefined : Buffer.from(body?.text ?? '', 'utf8');
    if (content !== undefined) headers['Content-Length'] = String(content.length);
    const late = AbortSignal.timeout(spec.timeoutMs);
    const signal = AbortSignal.any([late, over.signal]);
    const tooLong = (): ConnectFailure =>
      new ConnectFailure('identity', `${shownUrl(url.href)} answers with more than 64 KB`);
    const bounds = { signal, maximumBytes: mostAnswerBytes, tooLong };
    const question = { method: spec.method, headers, body: content, ...bounds };
    try {
      const { response, body: answer } = await agents.exchange(url, question);
      const { statusCode: status = 0 } = response;
      if (status >= 200 && status <= 299) return answer.toString('utf8');
      const errorClass = errorClassForStatus(status, 'request');
      const known = errorClass === 'request' ? 'identity' : errorClass;
      const text = `${shownUrl(url.href)} answered ${status}`;
      throw new (status >= 500 ? Unavailable : ConnectFailure)(known, text);
    } catch (error) {
      throw failureFromRequestError(error, 'request', url, signal.aborted);
    }
  }
}

const filledTexts = (
  texts: IdentityRequest['texts'],
  facts: PlaceholderValues,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, parts]) => [name, fillPersonalText(parts, facts)]),
  );

function urlOf(text: string): URL {
  if (URL.canParse(text) && /^https?:/i.test(text)) return new URL(text);
  throw new ConnectFailure('identity', 'the url of identities is not an http or https URL');
}

/** Values are written as the text around them wants them. */
function bodyIn(
  parts: readonly PersonalPart[],
  facts: PlaceholderValues,
): { readonly text: string; readonly type: string } {
  const [first] = parts;
  const isJson = typeof first === 'string' && /^\s*[[{]/.test(first);
  if (!isJson)
    return {
      text: fillPersonalText(parts, facts, encodeURIComponent),
      type: 'application/x-www-form-urlencoded',
    };
  const text = fillPersonalText(parts, facts, (value) => JSON.stringify(value).slice(1, -1));
  return { text, type: 'application/json' };
}

/** Of an endpoint, or of a proxy before it, that says so. */
class Unavailable extends ConnectFailure {}

/** Somebody was there, and did not like what was asked. */
const saysNo: ReadonlySet<ErrorClass> = new Set(['identity', 'unauthorized', 'notFound']);

const tokenNames = ['token', 'accessToken', 'access_token'];

/** @throws ConnectFailure where it is neither a token nor an object with one */
function rowIn(answer: string, nowMs: number): IdentityRow {
  const text = answer.trim();
  if (!text.startsWith('{')) {
    if (text === '' || /\s/.test(text)) throw noToken('is not a single token');
    return { values: { token: text }, expiresMs: jwtExpiryMs(text) };
  }
  const values = parseObject(text) as Row | undefined;
  if (values === undefined) throw noToken('begins like JSON, but is not JSON');
  const name = tokenNames.find((each) => typeof values[each] === 'string' && values[each] !== '');
  if (name === undefined) throw noToken(`has no ${tokenNames.join(', ')}`);
  const token = values[name] as string;
  const { expires_in: life } = values;
  const lifeS = typeof life === 'number' ? life : Number.NaN;
  const expiresMs = lifeS > 0 ? nowMs + lifeS * 1000 : jwtExpiryMs(token);
  return { values: { ...values, token }, expiresMs };
}

const noToken = (why: string): ConnectFailure =>
  new ConnectFailure('identity', `the answer ${why}: print a token, or a JSON object with token`);

function failureOf(error: unknown): NonNullable<IdentityRow['failed']> {
  if (error instanceof ConnectFailure) {
    const { errorClass, message } = error;
    const isDown = error instanceof Unavailable || !saysNo.has(errorClass);
    return { errorClass, message, isDown };
  }
  if (error instanceof CommandFailure)
    return { errorClass: error.isLate ? 'timeout' : 'identity', message: error.message };
  throw error;
}

/** How long a token that could not be renewed is left alone: a quarter of what it still lives, {@link againMs} at most. */
function againIn({ expiresMs = Infinity }: IdentityRow, nowMs: number): number {
  const leftMs = expiresMs - nowMs;
  return leftMs > 0 ? Math.min(againMs, Math.max(shortestRenewalMs, leftMs / 4)) : againMs;
}

/** `3 of 50 identities could not be had (2 timeout, 1 identity). The first: …`; undefined where there is none. */
function failuresIn(rows: readonly IdentityRow[], words: string): string | undefined {
  const failed = rows.flatMap(({ failed: each }) => each ?? []);
  const [first] = failed;
  if (first === undefined) return undefined;
  const counts = new Map<string, number>();
  for (const { errorClass } of failed) counts.set(errorClass, (counts.get(errorClass) ?? 0) + 1);
  const classes = [...counts].map(([name, count]) => `${formatCount(count)} ${name}`).join(', ');
  return `${formatCount(failed.length)} ${words} (${classes}). The first: ${first.message.replace(/\.$/, '')}.`;
}
