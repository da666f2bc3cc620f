import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  HubConnectionBuilder,
  HttpTransportType,
  LogLevel,
  type HubConnection,
} from '@microsoft/signalr';
import * as vscode from 'vscode';
import { startBenchHub, type BenchHub } from '../../src/servers/hub/benchHub';
import { startFront, testCertificate } from '../fakes/loadFront';
import { redirectingHub } from '../fakes/redirectingHub';
import { extension, until, workspaceFolder } from './editor';
import { recordMessages, type MessageRecorder } from './messages';

const gone = /^All clients have left\. The recording goes on/;

/** A client that is there. */
async function connected(url: string, { skipNegotiation = true } = {}): Promise<HubConnection> {
  const connection = new HubConnectionBuilder()
    .withUrl(url, { transport: HttpTransportType.WebSockets, skipNegotiation })
    .configureLogging(LogLevel.None)
    .build();
  connection.on('RecordLatency', () => undefined);
  await connection.start();
  return connection;
}

/** What the status bar shows of recordings. */
function watchStatus() {
  const real = vscode.window.createStatusBarItem;
  const items: vscode.StatusBarItem[] = [];
  vscode.window.createStatusBarItem = (...given: unknown[]) => {
    const item = Reflect.apply(real, vscode.window, given) as vscode.StatusBarItem;
    items.push(item);
    return item;
  };
  const hover = (): string => {
    const tooltip = items.at(-1)?.tooltip;
    return tooltip instanceof vscode.MarkdownString ? tooltip.value : '';
  };
  return {
    shows: (text: RegExp) =>
      until(
        () => `${String(text)} in: ${hover()}`,
        () => text.test(hover()) || undefined,
      ),
    restore: () => void (vscode.window.createStatusBarItem = real),
  };
}

/** The clock of the extension host, by which the extension sees how long nobody has been there. */
function movedClock() {
  const real = performance.now.bind(performance);
  let aheadMs = 0;
  performance.now = () => real() + aheadMs;
  return {
    passed: (ms: number) => void (aheadMs += ms),
    restore: () => void (performance.now = real),
  };
}

describe('Record Scenario', () => {
  let hub: BenchHub;
  let messages: MessageRecorder;
  let status: ReturnType<typeof watchStatus>;
  let clock: ReturnType<typeof movedClock>;
  const record = (node?: object): Thenable<unknown> =>
    vscode.commands.executeCommand('signalrBenchmark.recordScenario', node);
  before(async () => {
    await extension().activate();
    hub = await startBenchHub();
  });
  after(async () => {
    await hub.dispose();
    // They stand beside the results of the workspace.
    const folder = path.join(workspaceFolder().fsPath, '.signalr-bench');
    for (const name of readdirSync(folder))
      if (name.startsWith('recorded-')) rmSync(path.join(folder, name));
  });
  beforeEach(() => {
    messages = recordMessages();
    status = watchStatus();
    clock = movedClock();
  });
  afterEach(async function () {
    // The next try begins anew.
    messages.press = 'Stop and Open Scenario';
    if (this.currentTest?.state === 'failed') await record({ kind: 'hub', url: hub.url });
    clock.restore();
    status.restore();
    messages.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('says where clients go, shows what passes, and opens what they did when they have left', async () => {
    await record({ kind: 'hub', url: hub.url });
    const said = messages.find(/^Point clients at http:/);
    assert.deepEqual(said?.actions, ['Copy', 'Stop and Open Scenario']);
    const [, url = ''] = /at (\S+) in place/.exec(said.text)!;
    const first = await connected(url);
    for (let number = 0; number < 5; number++)
      await first.invoke('Echo', { 'payload.MessageBlob': `text ${number}` });
    await status.shows(/^clients 1 {2}$/m);
    const row = String.raw`\| \S+5 \| \S+\d\.0 \| \S+\d+ B \|`;
    await status.shows(new RegExp(`^\\| Call .*\n\\|:.*\n\\| \`Echo\` ${row}`, 'm'));
    await status.shows(new RegExp(`^\\| \\*\\*Callback.*\n\\| \`RecordLatency\` ${row}`, 'm'));

    messages.press = 'Keep Recording';
    await first.stop();
    await status.shows(/^clients 0, 1 were seen\b/m);
    assert.equal(messages.find(gone), undefined);
    clock.passed(5000);
    await until('the notice', () => messages.find(gone));
    const second = await connected(url);
    await second.invoke('Echo', { 'payload.MessageBlob': 'again' });
    await status.shows(/^clients 1, 2 were seen\b/m);

    messages.press = 'Stop and Open Scenario';
    await second.stop();
    await status.shows(/^clients 0, 2 were seen\b/m);
    clock.passed(5000);
    await until('what was found', () =>
      messages.find(/^Recognised in recorded-.*: clients 2, methods 1/),
    );
    const notices = messages.shown.filter(({ text }) => gone.test(text));
    const actions = ['Stop and Open Scenario', 'Keep Recording'];
    assert.deepEqual(
      notices.map((notice) => notice.actions),
      [actions, actions],
    );
    const document = vscode.window.activeTextEditor!.document;
    assert.ok(document.isUntitled);
    assert.match(document.getText(), /call: Echo$/m);
  });

  it('says that nobody came, and that nobody is there', async () => {
    messages.press = 'Stop and Open Scenario';
    await record({ kind: 'hub', url: hub.url });
    assert.ok(messages.find(/^No client came to http:.*: nothing was recorded\.$/));
    await record({ kind: 'hub', url: 'http://127.0.0.1:9/chat' });
    assert.ok(messages.find(/^Cannot connect to http:\/\/127.0.0.1:9/));
  });

  it('takes a certificate that is not known by its authority, or any, once somebody says so', async () => {
    const authority = path.join(workspaceFolder().fsPath, 'authority.pem');
    writeFileSync(authority, testCertificate);
    const dialog = vscode.window.showOpenDialog;
    vscode.window.showOpenDialog = () => Promise.resolve([vscode.Uri.file(authority)]);
    try {
      for (const answer of ['Choose Certificate Authority…', 'Accept Any Certificate']) {
        const front = await startFront(hub.url, { tls: true });
        messages.forget();
        messages.press = answer;
        await record({ kind: 'hub', url: front.url });
        const { text } = await until('where clients go', () => messages.find(/^Point clients at/));
        const asked = messages.find(/^Cannot connect to https:.*certificate\. Choose the file of/);
        assert.equal(asked?.level, 'error', JSON.stringify(messages.shown));
        assert.deepEqual(asked.actions, [
          'Choose Certificate Authority…',
          'Accept Any Certificate',
        ]);
        assert.ok(!/--/.test(asked.text), asked.text);
        const client = await connected(/at (\S+) in place/.exec(text)![1]!);
        await client.invoke('Echo', { 'payload.MessageBlob': 'text' });
        await client.stop();
        messages.press = 'Stop and Open Scenario';
        await record();
        const scenario = vscode.window.activeTextEditor!.document.getText();
        assert.ok(scenario.includes(`target: ${front.url}`), scenario);
        const key =
          answer === 'Accept Any Certificate' ? 'insecureTls: true' : `caFile: ${authority}`;
        assert.ok(scenario.includes(`  ${key}`), scenario);

        messages.forget();
        await record({ kind: 'hub', url: front.url });
        assert.equal(messages.find(/certificate/), undefined);
        await front.dispose();
      }
    } finally {
      vscode.window.showOpenDialog = dialog;
      rmSync(authority);
    }
  });

  it('asks for the certificate of what a hub leads to while it records, and goes on', async () => {
    const front = await startFront(hub.url, { tls: true });
    const redirecting = await redirectingHub(front.url);
    try {
      await record({ kind: 'hub', url: redirecting.url });
      const [, url = ''] = /at (\S+) in place/.exec(messages.find(/^Point clients at/)!.text)!;
      messages.press = 'Accept Any Certificate';
      await assert.rejects(connected(url, { skipNegotiation: false }));
      const asked = await until('the question', () => messages.find(/^Cannot connect to https:/));
      assert.ok(asked.text.includes(new URL(front.url).origin), asked.text);
      const client = await connected(url, { skipNegotiation: false });
      await client.invoke('Echo', { 'payload.MessageBlob': 'text' });
      await client.stop();
      messages.press = 'Stop and Open Scenario';
      await record();
      assert.ok(messages.find(/^Recognised in recorded-.*: clients 1, methods 1/));
    } finally {
      redirecting.dispose();
      await front.dispose();
    }
  });
});
