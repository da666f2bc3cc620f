/** Requests identities from a command or a token endpoint: once before connections open, and again before tokens expire. */
import { setTimeout as sleep } from 'node:timers/promises';
import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import type { Endpoint, IdentityRow } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { inBackground, Emitter } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import {
  fillPersonalText,
  type PersonalPart,
  type PlaceholderValues,
  type Row,
} from '../../base/personalText';
import {
  hideSecrets,
  redacted,
  replaceSecretArguments,
  replaceSecretValues,
} from '../../base/secrets';
import { formatCount } from '../../base/units';
import { renewalLeadMs } from '../../wire/connect/signingKey';
import {
  errorClassForStatus,
  ConnectFailure,
  failureFromRequestError,
  shownError,
  shownUrl,
  shownText,
} from '../../wire/connectFailure';
import { parseObject } from '../../wire/message/jsonScan';
import { SocketAgents } from '../../wire/socket/socket';
import { jwtExpiryMs, type IdentityCalls, type TargetContext } from '../target';
import type { IdentityRequest } from './resolveIdentities';
import { secretForms } from './rowSecrets';

const mostAnswerBytes = 64 * 1024;
/** Pause before a failed renewal is tried again; shorter for tokens that expire sooner. */
const againMs = 30_000;
/** Tokens may claim to live shorter. */
const shortestRenewalMs = 1000;
const longestTimerMs = 2 ** 31 - 1;

export interface CallClock {
  readonly nowMs: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const realClock: CallClock = {
  // Unaffected by changes of the system time.
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

  /** @param check throws ExpectedError where a row lacks what the scenario needs */
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
    // Nothing else may keep the process alive before the load.
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
    // Its connection has failed already.
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

/** The endpoint, or a proxy, says that it cannot answer now. */
class Unavailable extends ConnectFailure {}

/** An answer that refuses, unlike one that is missing. */
const saysNo: ReadonlySet<ErrorClass> = new Set(['identity', 'unauthorized', 'notFound']);

const tokenNames = ['token', 'accessToken', 'access_token'];

/** @throws ConnectFailure when the answer has no token */
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

function againIn({ expiresMs = Infinity }: IdentityRow, nowMs: number): number {
  const leftMs = expiresMs - nowMs;
  return leftMs > 0 ? Math.min(againMs, Math.max(shortestRenewalMs, leftMs / 4)) : againMs;
}

/** `3 of 50 identities could not be had (2 timeout, 1 identity). The first: …`. */
function failuresIn(rows: readonly IdentityRow[], words: string): string | undefined {
  const failed = rows.flatMap(({ failed: each }) => each ?? []);
  const [first] = failed;
  if (first === undefined) return undefined;
  const counts = new Map<string, number>();
  for (const { errorClass } of failed) counts.set(errorClass, (counts.get(errorClass) ?? 0) + 1);
  const classes = [...counts].map(([name, count]) => `${formatCount(count)} ${name}`).join(', ');
  return `${formatCount(failed.length)} ${words} (${classes}). The first: ${first.message.replace(/\.$/, '')}.`;
}

class CommandFailure extends Error {
  constructor(
    message: string,
    readonly isLate = false,
  ) {
    super(message);
    this.name = 'CommandFailure';
  }
}

interface CommandWay {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly mostBytes: number;
}

const execute = promisify(execFile);

/** Standard output of a program that runs without a shell. @throws CommandFailure */
async function runCommand(
  [program = '', ...args]: readonly string[],
  { folder, env, timeoutMs, mostBytes }: CommandWay,
  signal: AbortSignal,
): Promise<string> {
  const options = {
    ...{ cwd: folder, env: { ...process.env, ...env }, timeout: timeoutMs, signal },
    // Standard error may be longer than the answer.
    maxBuffer: 16 * mostBytes,
    killSignal: 'SIGKILL',
    windowsHide: true,
  } as const;
  let answer: string;
  try {
    const running = execute(program, args, options);
    running.child.stdin?.end();
    answer = (await running).stdout;
  } catch (error) {
    throw commandFailure(error as ExecFileException, program, timeoutMs, mostBytes);
  }
  if (Buffer.byteLength(answer) > mostBytes) throw tooLong(mostBytes);
  return answer;
}

const tooLong = (mostBytes: number): CommandFailure =>
  new CommandFailure(`the command prints more than ${mostBytes / 1024} KB`);

function commandFailure(
  { code, killed, signal, message, stderr = '' }: ExecFileException,
  program: string,
  timeoutMs: number,
  mostBytes: number,
): CommandFailure {
  if (code === 'ABORT_ERR') return new CommandFailure('the run is over');
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return message.startsWith('stderr')
      ? new CommandFailure('the command complains without end')
      : tooLong(mostBytes);
  if (killed === true)
    return new CommandFailure(`the command did not end within ${timeoutMs / 1000} s`, true);
  // Node's own message may have arguments.
  if (code === 'ENOENT') return new CommandFailure(`there is no program ${shownText(program)}`);
  if (typeof code === 'string')
    return new CommandFailure(`${shownText(program)} cannot be started (${code})`);
  const how =
    typeof code === 'number' ? `ended with ${code}` : `was ended by ${signal ?? 'a signal'}`;
  const line = stderr.trim().split('\n')[0] ?? '';
  // Commands may print secrets that nobody has named.
  const said = line === '' ? '' : `: ${shownText(replaceSecretValues(line, () => redacted))}`;
  return new CommandFailure(`the command ${how}${said}`);
}
