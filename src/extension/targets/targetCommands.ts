import * as vscode from 'vscode';
import { formatCount } from '../../base/units';
import { redactUrl } from '../../results/redact';
import { secretInFileCode } from '../../scenario/check/checkTarget';
import { moveSecret } from '../../scenario/moveSecret';
import { parseScenario } from '../../scenario/parseScenario';
import type { Scenario } from '../../scenario/scenario';
import {
  connectionStringProblem,
  looksLikeConnectionString,
} from '../../scenario/target/targetKinds';
import { hubUrlProblem } from '../../scenario/target/hubUrl';
import type { TextRange } from '../../scenario/text/outline';
import type { MissingMethods } from '../../run/askTarget';
import { probeTarget, type ProbeParts, readHubCode } from '../../run/probeTarget';
import { readNamedFile } from '../../run/scenarioFile';
import { openTarget, probeTargetOf } from '../../targets/openTarget';
import { tokenExpiry, type EditorAccount, type ServiceProbe } from '../../targets/target';
import { contractMethods } from '../../usecases/registry';
import { probeHub, type HubProbe } from '../../wire/connect/probeHub';
import { askPick, askText, type Place, back } from '../askInSteps';
import { errorText, t } from '../log';
import { ask, offer, say, showWhile } from '../notices';
import { askToConfirm, ensureTrusted } from '../questions';
import { uriOf } from '../scenarios/scenarioFiles';
import type { Services } from '../services';
import {
  isSecretNameText,
  freeSecretName,
  targetAppearance,
  targetValue,
  fitsService,
  targetNodes,
  type TargetNode,
} from './targetsTree';

export async function addTarget(services: Services): Promise<void> {
  const title = t('Add Target');
  const url = t('Hub URL');
  const secret = t('Connection string or other secret, kept by name');
  const answer = await vscode.window.showQuickPick([url, secret], { title });
  if (answer === url) {
    const text = await askHubUrl(title);
    if (text === undefined || text === back) return;
    // The list is visible, so URLs with secrets are stored as secrets.
    if (redactUrl(text) === text) await services.state.rememberHub(text);
    else await keepByName(services, text);
  }
  if (answer === secret) {
    const value = await vscode.window.showInputBox({
      title,
      prompt: t('It is kept in the secret storage of the editor.'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) =>
        text.trim() === ''
          ? t('Enter a value.')
          : looksLikeConnectionString(text)
            ? connectionStringProblem(text)
            : undefined,
    });
    if (value !== undefined) await keepByName(services, value.trim());
  }
}

async function keepByName(services: Services, value: string): Promise<void> {
  const name = await askSecretName(services);
  if (name === undefined) return;
  await services.secrets.set(name, value);
  const reference = `\${secret:${name}}`;
  await offer('Information', t('Kept. Scenario files name it {0}.', reference), {
    [t('Copy Reference')]: () => vscode.env.clipboard.writeText(reference),
  });
}

export async function removeTarget(argument: unknown, services: Services): Promise<void> {
  const node = nodeOf(argument);
  if (node?.kind === 'hub') {
    const { state } = services;
    const others = state.list('hubs').filter((known) => known !== node.url);
    await state.store('hubs', others);
  }
  if (node?.kind !== 'secret') return;
  const question = t('Delete the secret {0}? It cannot be brought back.', node.name);
  if (await askToConfirm(question, t('Delete'))) await services.secrets.delete(node.name);
}

export async function testTarget(argument: unknown, services: Services): Promise<void> {
  if (!(await ensureTrusted())) return;
  const title = t('Test Connection');
  const node = nodeOf(argument) ?? (await pickTarget(services, { title, asInFile: false }));
  if (node === undefined || node === 'asInFile') return;
  const name = redactUrl(targetAppearance(node, t).label);
  try {
    const probe = await showWhile(t('Connecting to {0}', name), async () => {
      const text = targetValue(node);
      const reference = await services.secrets.referencesOf([text]);
      const { serverScript } = services;
      const readFile = (file: string): Promise<string> => readNamedFile(process.cwd(), file);
      const context = { reference, serverScript, editorAccount, readFile };
      const wanted = { text, service: node.kind === 'local' ? node.service : undefined };
      const probed = await probeTarget(wanted, context, probeParts, (host) =>
        confirmRedirect(host, name),
      );
      return probed?.probe;
    });
    if (probe) await sayProbe(name, probe, services);
  } catch (error) {
    services.log.error(error);
    say('Error', errorText(error));
  }
}

const probeParts: ProbeParts = {
  ...{ parseScenario, openTarget, probeTargetOf },
  probeHub: (endpoint) => probeHub(endpoint, contractMethods()),
};

/** Plain words for system errors; the log has the original. */
const reasons = (): Readonly<Record<string, string>> => ({
  refused: t('no server listens there.'),
  dns: t('its host name is not known.'),
  unreachable: t('its host cannot be reached.'),
  timeout: t('there was no answer in time.'),
});

async function sayProbe(
  name: string,
  probe: HubProbe | ServiceProbe,
  { log, serverScript }: Services,
): Promise<void> {
  const classic = 'classic' in probe;
  if (!probe.reachable) {
    log.warn(`${name}: ${probe.message} (${probe.errorClass})`);
    const reason = reasons()[probe.errorClass] ?? probe.message;
    await offer('Error', `${name}: ${reason}`, {
      ...((probe.errorClass === 'notFound' || classic) && hubCodeButton(serverScript, classic)),
      [t('Show Log')]: () => log.show(),
    });
    return;
  }
  const methods = 'methods' in probe ? probe.methods : [];
  const missing = methods.filter(({ present }) => !present).map((method) => method.name);
  const kind = classic
    ? ` ${t('It is a hub of ASP.NET SignalR: scenarios need connectionType: AspNet.')}`
    : '';
  if (missing.length > 0) {
    const text = t(
      '{0}: connected, but the hub lacks {1}. The code adds a hub with all of them.',
      ...[name, missing.join(', ')],
    );
    await offer('Warning', `${text}${kind}`, hubHelp(serverScript, name, classic));
    return;
  }
  const connectMs = formatCount(probe.connectMs, 1);
  const text =
    'methods' in probe
      ? methods.some(({ detail }) => detail !== undefined)
        ? t('{0}: connected in {1} ms. The hub does not say which methods it has.', name, connectMs)
        : t('{0}: connected in {1} ms, with all bench methods.', name, connectMs)
      : probe.signedIn
        ? signInText(name, connectMs, probe.missingRestRole)
        : t('{0}: the service answers in {1} ms and accepts the key.', name, connectMs);
  await ask('Information', `${text}${kind}`);
}

function signInText(name: string, connectMs: string, missingRestRole: string | undefined): string {
  return missingRestRole === undefined
    ? t('{0}: the service answers in {1} ms and accepts the sign-in.', name, connectMs)
    : t(
        '{0}: the service answers in {1} ms and accepts the sign-in. REST is not allowed to this identity; only serverless scenarios need it, and with it the role {2}.',
        name,
        connectMs,
        missingRestRole,
      );
}

export function nodeOf(argument: unknown): TargetNode | undefined {
  const kind = (argument as { kind?: unknown } | undefined)?.kind;
  const known = kind === 'local' || kind === 'hub' || kind === 'secret';
  return known ? (argument as TargetNode) : undefined;
}

async function askSecretName({ secrets }: Services, value = ''): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title: t('Name of the secret'),
    prompt: t('Scenario files refer to the secret by this name, as {0}.', '${secret:name}'),
    value,
    ignoreFocusOut: true,
    validateInput: (text) => {
      if (!isSecretNameText(text.trim()))
        return t('Letters, digits, - and _, beginning with a letter.');
      if (secrets.names.includes(text.trim()))
        return t('There is a secret of this name; remove it in the Targets view first.');
      return undefined;
    },
  });
  return answer?.trim();
}

/** Moves a secret to secret storage and writes its reference; by default the first secret of the active file. */
export async function moveSecretOut(
  uriArgument: unknown,
  rangeArgument: unknown,
  services: Services,
): Promise<void> {
  const uri = uriOf(uriArgument);
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const text = document.getText();
  const at =
    rangeArgument instanceof vscode.Range ? rangeIn(document, rangeArgument) : firstIn(text);
  if (!at) {
    say('Information', t('No secret was found in this file.'));
    return;
  }
  const { version } = document;
  const proposed = freeSecretName('accessKey', services.secrets.names);
  // Check first whether it can be moved at all.
  if (!moveSecret(text, at, proposed)) {
    say(
      'Warning',
      t(
        'This secret cannot be moved automatically; nothing was changed. Add it in the Targets view, then write the reference yourself.',
      ),
    );
    return;
  }
  const name = await askSecretName(services, proposed);
  if (name === undefined) return;
  if (document.version !== version) {
    say('Warning', t('The file was changed meanwhile; nothing was moved.'));
    return;
  }
  const move = moveSecret(text, at, name)!;
  await services.secrets.set(name, move.secret);
  const edit = new vscode.WorkspaceEdit();
  const end = document.positionAt(move.offset + move.length);
  edit.replace(uri, new vscode.Range(document.positionAt(move.offset), end), move.text);
  if (!(await vscode.workspace.applyEdit(edit))) {
    await services.secrets.delete(name);
    say('Warning', t('The file cannot be changed.'));
  }
}

function rangeIn(document: vscode.TextDocument, { start, end }: vscode.Range): TextRange {
  const offset = document.offsetAt(start);
  return { offset, length: document.offsetAt(end) - offset };
}

const firstIn = (text: string): TextRange | undefined =>
  parseScenario(text).problems.find(({ code }) => code === secretInFileCode);

type TargetItem = vscode.QuickPickItem & { readonly target?: TargetNode | 'asInFile' };

interface TargetQuestion {
  readonly title: string;
  readonly asInFile: boolean;
  readonly service?: Scenario['service'] | undefined;
  readonly place?: Place;
}

/** Asks for a local, remembered or typed target; undefined when cancelled. */
export async function pickTarget(
  services: Services,
  question: TargetQuestion,
): Promise<TargetNode | 'asInFile' | undefined> {
  const { state, secrets } = services;
  const { title, asInFile, service, place } = question;
  const fits = (node: TargetNode): boolean => service === undefined || fitsService(node, service);
  const known = targetNodes(state.list('hubs'), secrets.names)
    .filter(fits)
    .map((node): TargetItem => {
      const { label, description, icon } = targetAppearance(node, t);
      return { label: `$(${icon}) ${label}`, description, target: node };
    });
  const items: TargetItem[] = [
    ...(asInFile ? [{ label: `$(file) ${t('As in the file')}`, target: 'asInFile' as const }] : []),
    ...known,
    ...(fits({ kind: 'hub', url: '' }) ? [{ label: `$(edit) ${t('Another hub URL…')}` }] : []),
  ];
  const answer = await askPick(title, items, place);
  if (answer === undefined || answer === back) return undefined;
  if (answer.target !== undefined) return answer.target;
  const url = await askHubUrl(title, place && { ...place, inside: true });
  if (url === back) return pickTarget(services, question);
  return url === undefined ? undefined : { kind: 'hub', url };
}

export function askHubUrl(title: string, place?: Place): Promise<string | typeof back | undefined> {
  const question = {
    ...{ title, prompt: t('Hub URL'), placeholder: 'http://localhost:5050/signalrbench' },
    check: urlProblem,
  };
  return askText(question, place);
}

function urlProblem(text: string): string | undefined {
  if (!/^(https?|wss?):\/\/[^\s/]/i.test(text))
    return t('Write the whole URL, such as http://localhost:5050/signalrbench');
  return hubUrlProblem(text) === undefined ? undefined : t('This is not a hub URL.');
}

const hubCodeButton = (serverScript: string, classic: boolean) => ({
  [t('Copy C# Code')]: () =>
    vscode.env.clipboard.writeText(readHubCode(serverScript, 'recordLatency', classic)),
});

const hubHelp = (serverScript: string, url: string, classic: boolean) => ({
  ...hubCodeButton(serverScript, classic),
  [t('Call Your Own Method')]: () =>
    vscode.commands.executeCommand('signalrBenchmark.newScenario', 'invoke', url),
});

export async function sayMissingMethods(
  { methods, url, classic }: MissingMethods,
  serverScript: string,
): Promise<void> {
  const text =
    methods.length === 1
      ? t('{0}: the hub has no method {1}. Nothing was started.', url, methods[0]!)
      : t('{0}: the hub has no methods {1}. Nothing was started.', url, methods.join(', '));
  await offer('Error', text, hubHelp(serverScript, url, classic));
}

function confirmRedirect(host: string, url: string): Promise<boolean> {
  const text = t('{0} redirects to {1}, which is not on this machine.', url, host);
  return askToConfirm(text, t('Connect'));
}

/** The user's Microsoft account in the editor; undefined if not signed in. */
export const editorAccount: EditorAccount = async (scope, tenantId, mayAsk) => {
  const scopes = [scope, ...(tenantId === undefined ? [] : [`VSCODE_TENANT:${tenantId}`])];
  const detail = t(
    'The connection string says AuthType=azure, and no other sign-in to Microsoft Entra ID was found on this machine.',
  );
  try {
    const session = await vscode.authentication.getSession(
      'microsoft',
      scopes,
      mayAsk ? { createIfNone: { detail } } : { silent: true },
    );
    if (session === undefined) return undefined;
    const { accessToken: token } = session;
    return { token, expiresAtMs: tokenExpiry(token, Date.now()) };
  } catch {
    return undefined;
  }
};
