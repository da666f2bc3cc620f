import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import type { SignInCheck } from '../../src/servers/service/emulatorOptions';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { EntraId } from '../fakes/entraId';
import type { CliHere, CliResult } from '../fakes/loadCli';
import { anyToken } from './badServiceRun';
import { assertRan, CliFolder } from './cliFolder';
import type { LoadTest } from './loadRun';

const services = {
  signalr: (signIns: SignInCheck) => startAzureSignalr({ signIns }),
  webpubsub: (signIns: SignInCheck) => startWebPubSubEmulator({ signIns }),
} as const;
type ServiceName = keyof typeof services;

/** Does something in this process as if its environment had this: what @azure/identity finds there is not handed on. */
async function inEnvironment<T>(env: NodeJS.ProcessEnv, act: () => Promise<T>): Promise<T> {
  const before = process.env;
  process.env = { ...before, ...env };
  try {
    return await act();
  } finally {
    process.env = before;
  }
}

/** Connections come and go, so that tokens are needed all the time. */
const comeAndGo = { lifetime: '300ms', repair: true, arrivingRate: 50 };
/** A sample in which at least five connections were opened again. */
const haveComeAgain = /"reconnected":([5-9]|[1-9]\d)/;
/** A run that somebody has to end. */
const life = { singleStepDuration: '60s', connections: 4, workers: 1, skipNegotiation: false };

describe('a sign-in to Microsoft Entra ID', function () {
  let folder: CliFolder;
  let entra: EntraId;
  let outs = 0;
  before(() => {
    folder = new CliFolder();
  });
  after(() => folder.dispose());
  beforeEach(async () => {
    entra = new EntraId();
    await entra.start();
  });
  afterEach(() => entra.dispose());

  /**
   * Runs against an emulator that takes those who have signed in.
   *
   * @param during ends the run, which else comes to its own end
   */
  async function run(
    service: ServiceName,
    test: Omit<LoadTest, 'target'>,
    authType: string,
    env: Readonly<Record<string, string>>,
    during: (going: CliHere, out: string) => Promise<void> = () => Promise.resolve(),
  ): Promise<CliResult & { readonly out: string }> {
    const emulator = await services[service](entra.signIns);
    const out = `run${(outs += 1)}`;
    try {
      const SERVICE = emulator.connectionString.replace(/AccessKey=[^;]*/, `AuthType=${authType}`);
      const { config, ...rest } = test;
      const file = folder.scenario(`${out}.yaml`, {
        ...rest,
        target: '${env:SERVICE}',
        config: { service, ...life, ...config },
      });
      const args = ['run', file, '--out', out, '--yes'];
      // A managed identity is remembered by its library for as long as the process lives.
      if ('IDENTITY_ENDPOINT' in env)
        return { ...(await folder.start(args, { SERVICE, ...env }).finished), out };
      return await inEnvironment(env, async () => {
        const going = folder.startHere(args, { SERVICE });
        await during(going, out);
        return { ...(await going.finished), out };
      });
    } finally {
      await emulator.dispose();
    }
  }

  /** Fails when the run is over before. */
  async function untilSo(condition: () => boolean, { finished }: CliHere): Promise<void> {
    let over: CliResult | undefined;
    void finished.then((result) => (over = result));
    while (!condition()) {
      await setTimeout(50);
      assert.equal(over?.stderr, undefined);
    }
  }

  /** The same until a token was renewed twice, and a later sample has the pattern, however long that takes. */
  async function runOn(
    service: ServiceName,
    test: Omit<LoadTest, 'target'>,
    pattern = /"received":[1-9]/,
  ) {
    const done = await run(service, test, 'azure', entra.az(folder.path), async (going, out) => {
      await untilSo(() => entra.issued.length >= 3, going);
      await folder.sampled(out, pattern, going.finished);
      going.signal('SIGINT');
    });
    assert.equal(done.code, 130, done.stderr);
    const result = folder.result(done.out);
    assert.deepEqual(result.errors, {});
    assert.ok(result.steps[0]!.received > 0);
    assertNoSecret(done);
    return result;
  }

  /** Nothing that lets anybody in is in what the run has said and kept. */
  function assertNoSecret({ stdout, stderr, out }: CliResult & { readonly out: string }): void {
    const kept = readdirSync(path.join(folder.path, out), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(folder.path, out, name))
      .filter((name) => statSync(name).isFile())
      .map((name) => readFileSync(name, 'utf8'));
    for (const text of [stdout, stderr, ...kept]) {
      assert.doesNotMatch(text, /entra-[\w-]{20}/);
      assert.doesNotMatch(text, anyToken);
    }
  }

  it('lets default mode in, and clients that come after it was renewed', async () => {
    const { connections } = await runOn(
      'signalr',
      {
        useCase: 'echo',
        config: { ...comeAndGo, serverConnections: 2 },
      },
      haveComeAgain,
    );
    assert.equal(entra.resources[0], 'https://signalr.azure.com');
    assert.ok(connections.reconnected > 4, `${connections.reconnected} came again`);
  });

  it('lets serverless mode in by REST, before and after it was renewed', async () => {
    const entries = [{ name: 'restSendToUser' }, { name: 'restPersistSendToUser' }];
    await runOn('signalr', { entries });
  });

  it('of the Azure CLI lets Web PubSub in, which signs tokens for clients itself', async () => {
    const { connections } = await runOn(
      'webpubsub',
      {
        entries: [
          { name: 'sendToGroup', parameters: { groupCount: 1 } },
          { name: 'restBroadcast' },
        ],
        config: comeAndGo,
      },
      haveComeAgain,
    );
    assert.equal(entra.resources[0], 'https://webpubsub.azure.com');
    assert.ok(connections.reconnected > 4, `${connections.reconnected} came again`);
    assert.ok(connections.connectPhasesUs?.negotiate !== undefined, 'tokens take time');
  });

  it('lets clients reach an upstream handler of the run, which says what it cannot check', async () => {
    const upstream = { port: 0, publicUrl: 'http://127.0.0.1/' };
    const test = { useCase: 'echo', config: { singleStepDuration: '500ms', upstream } };
    const done = await run('webpubsub', test, 'azure', entra.az(folder.path));
    assertRan(done);
    const { errors, steps } = folder.result(done.out);
    assert.deepEqual(errors, {});
    const { sent, received } = steps[0]!;
    assert.ok(sent > 0);
    assert.equal(received, sent);
    assert.match(done.stderr, /note: .*cannot check the signatures/);
  });

  it('that cannot be renewed is reported in the result, which is kept', async () => {
    const test = { useCase: 'restBroadcast', config: { baseSending: 1, drain: '100ms' } };
    const az = entra.az(folder.path);
    const { out, stderr } = await run('signalr', test, 'azure', az, async (going) => {
      await going.said(/measuring|connected|sent/i);
      entra.role = 'forbidden';
      await untilSo(() => entra.refused.has(entra.issued[1] ?? ''), going);
      for (let turn = 0; turn < 3; turn++) await setTimeout(200);
      going.signal('SIGINT');
    });
    const { errors, errorExamples } = folder.result(out);
    assert.ok((errors.unauthorized ?? 0) > 0, stderr);
    assert.ok(
      errorExamples.some(({ text }) =>
        /could not be renewed\. .*assign the role SignalR Service Owner/.test(text),
      ),
      JSON.stringify(errorExamples),
    );
  });

  describe('that fails', () => {
    /** One sentence on standard error, and the exit code of a target that cannot be used. */
    async function assertFails(
      says: RegExp,
      authType: string,
      env: Readonly<Record<string, string>>,
      service: ServiceName = 'signalr',
      name = 'restBroadcast',
    ): Promise<void> {
      const { code, stdout, stderr } = await run(service, { useCase: name }, authType, env);
      assert.equal(code, 3, stderr);
      assert.match(stderr, says);
      const said = stderr.trimEnd().split('\n');
      // The file itself is judged first.
      assert.equal(
        said.filter((line) => !/run\d+\.yaml:.* (info|warning) /.test(line)).length,
        1,
        stderr,
      );
      assert.doesNotMatch(stdout + stderr, /entra-[\w-]{20}|T0p-secret/);
    }

    it('says that az is not there, or nobody has signed in to it', async () => {
      const nowhere = { PATH: folder.path, AZURE_TOKEN_CREDENTIALS: 'dev' };
      await assertFails(/Azure CLI is not installed.*`az login`/, 'azure', nowhere);
      const az = entra.az(folder.path, 'ERROR: Please run "az login" to setup account.');
      await assertFails(/^Nobody is signed in .*: run `az login`, or set AZURE_/m, 'azure', az);
    });

    it('says that the tenant is wrong', async () => {
      const az = entra.az(folder.path, 'ERROR: AADSTS90002: Tenant T0p-secret not found.');
      await assertFails(/does not know the tenant: .*\(AADSTS90002\)/, 'azure', az);
    });

    it('says that there is no such managed identity', async () => {
      const other = 'azure.msi;ClientId=unknown';
      await assertFails(/no managed identity with the ClientId/, other, entra.identity);
    });

    it('says that the certificate of an application cannot be used', async () => {
      folder.write('not-a.pem', 'T0p-secret');
      const app = 'azure.app;TenantId=t;ClientId=c;ClientCertPath=not-a.pem';
      await assertFails(/certificate of the application/, app, {});
    });

    it('names the role that is missing, for each service and mode', async () => {
      entra.role = 'forbidden';
      const az = entra.az(folder.path);
      const owner = /answered 403.*assign the role SignalR Service Owner .*30 minutes/;
      await assertFails(owner, 'azure', az);
      await assertFails(/assign the role SignalR App Server/, 'azure', az, 'signalr', 'echo');
      const pubSub = /assign the role Web PubSub Service Owner/;
      await assertFails(pubSub, 'azure', az, 'webpubsub', 'connectOnly');
    });
  });

  it('is tried by doctor, and loads what it needs only then', async () => {
    const hook =
      'const { writeFileSync } = require("node:fs"); process.on("exit", () => { if (process.argv[2] !== "serve") writeFileSync(process.env.LOADED, Object.keys(require.cache).join("\\n")); });';
    const required = path.join(folder.path, folder.write('loaded.cjs', hook));
    const tracing = {
      LOADED: path.join(folder.path, 'loaded.txt'),
      NODE_OPTIONS: `-r ${required}`,
    };
    const emulator = await services.signalr(entra.signIns);
    const traced = (SERVICE: string, ...args: string[]): Promise<CliResult> =>
      folder.start(args, { ...entra.identity, ...tracing, SERVICE }).finished;
    try {
      const { connectionString } = emulator;
      const signsIn = connectionString.replace(/AccessKey=[^;]*/, 'AuthType=azure.msi');
      const taken = await traced(signsIn, 'doctor', '--target', '${env:SERVICE}');
      assert.equal(taken.code, 0, taken.stderr);
      assert.match(taken.stdout, /answers within .* and accepts the\s+sign-in/);
      assert.match(folder.read('loaded.txt'), /optional\.js/);
      const byKey = await traced(connectionString, 'doctor', '--target', '${env:SERVICE}');
      assert.match(byKey.stdout, /answers within .* and accepts the\s+key/);
      assert.doesNotMatch(folder.read('loaded.txt'), /optional\.js/);
    } finally {
      await emulator.dispose();
    }
  });
});
