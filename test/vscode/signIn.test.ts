import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../src/servers/azureSignalr/serviceEmulator';
import { openFile } from './editor';
import { endingIn, inWorkspace, resultNames, results } from './longRun';
import { recordingMessages } from './messages';

/** What the editor was asked about accounts. */
interface Request {
  readonly provider: string;
  readonly scopes: readonly string[];
  readonly asks: string | undefined;
}

const variables = ['SIGN_IN_SERVICE', 'AZURE_TOKEN_CREDENTIALS', 'PATH'] as const;
const token = ['eyJhbGciOiJub25lIn0', 'eyJzdWIiOiJ0ZXN0In0', 'nobody'].join('.');

describe('a sign-in with the account of the editor', () => {
  const shown = recordingMessages();
  const { said } = shown;
  const { authentication } = vscode;
  const { getSession } = authentication;
  const before = variables.map((name) => [name, process.env[name]] as const);
  const requests: Request[] = [];
  let service: AzureSignalr;
  /** Whether the account may be used without a question. */
  let isKnown: boolean;
  let agrees: boolean;

  beforeEach(async () => {
    requests.length = 0;
    [isKnown, agrees] = [false, true];
    service = await startAzureSignalr({
      signIns: (shown) => (shown === token ? 'accepted' : 'unauthorized'),
    });
    process.env['SIGN_IN_SERVICE'] = service.connectionString.replace(
      /AccessKey=[^;]*/,
      'AuthType=azure',
    );
    // Nobody is signed in to anything else.
    process.env['AZURE_TOKEN_CREDENTIALS'] = 'AzureCliCredential';
    process.env['PATH'] = inWorkspace();
    (authentication as { getSession: unknown }).getSession = (
      provider: string,
      scopes: readonly string[],
      options: vscode.AuthenticationGetSessionOptions,
    ) => {
      const { createIfNone, silent } = options;
      const asks = typeof createIfNone === 'object' ? createIfNone.detail : undefined;
      assert.notEqual(silent === true, asks !== undefined);
      requests.push({ provider, scopes, asks });
      if (asks === undefined) return Promise.resolve(isKnown ? { accessToken: token } : undefined);
      return agrees
        ? Promise.resolve({ accessToken: token })
        : Promise.reject(new Error('User did not consent to login.'));
    };
  });
  afterEach(async () => {
    (authentication as { getSession: unknown }).getSession = getSession;
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    await service.dispose();
  });

  it('is used for a run, after a question that says why', async () => {
    const text = readFileSync(inWorkspace('quick.signalr.yaml'), 'utf8')
      .replace('target: local', 'target: ${env:SIGN_IN_SERVICE}\n  service: signalr')
      .replace('name: echo', 'name: restBroadcast');
    writeFileSync(inWorkspace('signIn.signalr.yaml'), text);
    const known = resultNames();
    await openFile('signIn.signalr.yaml');
    shown.messages.press = 'Run';
    await vscode.commands.executeCommand('signalrBenchmark.run');
    await said(/^Contact other machines for this run/);
    const folder = results(resultNames().find((name) => !known.includes(name))!);
    assert.equal(await endingIn(folder), 'completed');
    const [first, second] = requests;
    const scopes = ['https://signalr.azure.com/.default'];
    assert.deepEqual(first, { provider: 'microsoft', scopes, asks: undefined });
    assert.match(second?.asks ?? '', /AuthType=azure.*no other sign-in .* was found/);
    for (const name of readdirSync(folder))
      assert.ok(!readFileSync(path.join(folder, name), 'utf8').includes(token), name);
  });

  it('is used without a question where it may be, by Test Connection too', async () => {
    isKnown = true;
    const node = { kind: 'hub', url: '${env:SIGN_IN_SERVICE}' };
    await vscode.commands.executeCommand('signalrBenchmark.testTarget', node);
    await said(/the service answers in .* and accepts the sign-in/);
    assert.deepEqual(
      requests.map(({ asks }) => asks),
      [undefined],
    );
  });

  it('that is turned down leaves what else there is to do', async () => {
    agrees = false;
    const node = { kind: 'hub', url: '${env:SIGN_IN_SERVICE}' };
    await vscode.commands.executeCommand('signalrBenchmark.testTarget', node);
    await said(/^Nobody is signed in to Microsoft Entra ID.*az login/);
    assert.equal(requests.length, 2);
  });
});
