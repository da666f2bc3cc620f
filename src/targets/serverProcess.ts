import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../base/expectedError';
import { isAzure, services, type Service } from '../base/serviceTraits';
import { parseObject } from '../wire/message/jsonScan';
import type { ProblemListener } from './target';

const startMs = 15_000;
const stopMs = 3000;
const keptErrorBytes = 4096;

/** Arguments of `serve`, a name for people, and the key of the first line it prints. */
interface ServedThing {
  readonly args: readonly string[];
  readonly name: string;
  readonly prints: 'url' | 'connectionString';
}

interface ServerProcessOptions {
  /** Secrets, as JSON in the first line of standard input: others can list arguments and environment. */
  readonly settings?: object;
  /** Receives the server's problems (`{"problem":…,"count":…}`), and an unexpected end. */
  readonly onProblem?: ProblemListener | undefined;
}

interface ServerProcess {
  readonly value: string;
  readonly send: (message: object) => void;
  readonly dispose: () => Promise<void>;
}

/** What Node and the system need; other variables may be secrets. */
const passedOn = [
  ...['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF'],
  ...['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'PATH', 'SystemRoot', 'TMPDIR', 'TEMP', 'TMP', 'TZ'],
];

/** Environment of child processes. The editor's executable is Electron. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const variables = passedOn.map((name) => [name, process.env[name]] as const);
  const known = variables.filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), ELECTRON_RUN_AS_NODE: '1' };
}

/** In a process of its own, away from the load. @throws ExpectedError `local-hub` */
export async function startServerProcess(
  serverScript: string,
  { args, name, prints }: ServedThing,
  { settings, onProblem = () => undefined }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [serverScript, 'serve', ...args, '--exit-with-stdin'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: childEnvironment(),
  });
  let isWanted = true;
  let isServing = false;
  let errors = '';
  child.stdin.on('error', () => undefined);
  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  if (settings !== undefined) send(settings);
  child.stderr.on('data', (chunk: Buffer) => {
    if (errors.length < keptErrorBytes) errors += chunk.toString('utf8');
  });
  const dispose = (): Promise<void> => {
    isWanted = false;
    return stop(child);
  };
  const starting = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => fail(`it did not answer within ${startMs / 1000} s`), startMs);
    const fail = (why: string): void => {
      clearTimeout(timer);
      const message = `The ${name} did not start: ${why}. ${reasonIn(errors)}`.trim();
      const cause = new Error(errors.slice(0, keptErrorBytes).trim());
      reject(new ExpectedError('local-hub', message, { cause }));
    };
    child.once('error', (error) => fail(error.message));
    // `exit` comes before the last output.
    child.once('close', (code, signal) => {
      const how = code === null ? `signal ${String(signal)}` : `code ${code}`;
      if (!isServing) fail(`it ended with ${how}`);
      else if (isWanted)
        onProblem(`The ${name} ended by itself with ${how}. ${reasonIn(errors)}`.trim(), 1);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { problem, count, [prints]: value } = parseObject(line) ?? {};
      if (typeof problem === 'string') {
        onProblem(problem, typeof count === 'number' ? count : 1);
      } else if (!isServing && typeof value === 'string') {
        clearTimeout(timer);
        isServing = true;
        resolve(value);
      } else if (!isServing) {
        fail(prints === 'url' ? 'it printed no URL' : 'it printed no connection string');
      }
    });
  });
  try {
    return { value: await starting, send, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

export function startLocalServer(
  service: Service,
  serverScript: string,
  onProblem?: ProblemListener,
  classic = false,
): Promise<ServerProcess> {
  const hub = ['hub', ...(classic ? ['--classic'] : [])];
  const args = [...(isAzure(service) ? [services[service].emulator] : hub), '--port', '0'];
  const served: ServedThing = isAzure(service)
    ? { args, name: `emulator of ${services[service].name}`, prints: 'connectionString' }
    : { args, name: 'embedded hub', prints: 'url' };
  return startServerProcess(serverScript, served, { onProblem });
}

function reasonIn(errors: string): string {
  const lines = errors.slice(0, keptErrorBytes).split('\n');
  const said =
    lines.find((line) => /^\w*Error\b.*: /i.test(line)) ?? lines.find((line) => /\S/.test(line));
  return (said ?? '').trim();
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.stdin?.end();
  });
}

export async function disposeAll(...all: readonly Pick<ServerProcess, 'dispose'>[]): Promise<void> {
  const [first, ...others] = all;
  try {
    await first?.dispose();
  } finally {
    if (others.length > 0) await disposeAll(...others);
  }
}
