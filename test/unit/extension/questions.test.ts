import assert from 'node:assert/strict';
import { english } from '../../../src/base/text';
import { EditorState } from '../../../src/extension/editorState';
import type * as Questions from '../../../src/extension/questions';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { contactsBeyond, createRunQuestion, listReach } from '../../../src/run/reach';
import { withVscode } from '../../fakes/fakeVscode';
import { memento } from '../../fakes/memento';

describe('the question before a run in the editor', () => {
  const asked: { readonly question: string; readonly detail: string; readonly modal: unknown }[] =
    [];
  let press = true;
  const vscode = {
    l10n: { t: english },
    workspace: { isTrusted: true },
    window: {
      showWarningMessage: (
        question: string,
        { modal, detail = '' }: { modal?: boolean; detail?: string },
        ...buttons: string[]
      ) => {
        asked.push({ question, detail, modal });
        return Promise.resolve(press ? buttons[0] : undefined);
      },
    },
  };
  let questions: typeof Questions;
  let state: EditorState;
  before(async () => {
    questions = await withVscode(vscode, () => import('../../../src/extension/questions.js'));
  });
  beforeEach(() => {
    state = new EditorState(memento(), memento());
    press = true;
  });

  /** How often somebody was asked, and whether the run goes on. */
  async function ask(config: object, isByTool = false): Promise<string> {
    asked.length = 0;
    const { scenario } = parseScenario(
      JSON.stringify({ config: { target: 'local', ...config }, scenario: { name: 'echo' } }),
    );
    const reach = listReach(scenario!, { reference: () => undefined, commandFolder: '/w' });
    const goesOn = await questions.confirmLoad(
      ...([createRunQuestion(scenario!, reach), scenario!, state, isByTool] as const),
    );
    for (const { modal } of asked) assert.equal(modal, true);
    return `${asked.length} ${goesOn ? 'yes' : 'no'}`;
  }

  const command = { identities: { command: ['sh', '-c', 'x](command:quit)'] } };

  it('is asked once for a command of a scenario, and for a tool each time', async () => {
    press = false;
    assert.equal(await ask(command), '1 no');
    press = true;
    assert.equal(await ask(command, true), '1 yes');
    assert.equal(await ask(command, true), '1 yes');
    assert.equal(await ask(command), '1 yes');
    assert.match(asked[0]!.question, /^Run a command that the scenario names\?$/);
    assert.match(asked[0]!.detail, /^1,000 connections, .*\nIt runs the command sh -c "x] \(/);
    assert.equal(await ask(command), '0 yes');
    assert.equal(await ask(command, true), '1 yes');
    const other = { identities: { ...command.identities, env: { A: 'b' } } };
    assert.equal(await ask(other), '1 yes');
  });

  it('is asked once for what a host is for and gets, and again for anything else', async () => {
    const observe = { observe: [{ prometheus: 'https://a.example/metrics' }] };
    const target = { target: 'https://a.example/hub' };
    for (const config of [
      observe,
      { observe: [{ prometheus: 'http://a.example/metrics' }] },
      { observe: [{ prometheus: 'https://a.example/m', authorization: '${env:AWS}' }] },
      target,
      { ...target, headers: { 'X-Key': '${secret:key}' } },
      { ...target, data: { file: 'users.csv' } },
      { ...target, ...command },
    ]) {
      assert.equal(await ask(config), '1 yes', JSON.stringify(config));
      assert.equal(
        await ask(config, 'identities' in config),
        'identities' in config ? '1 yes' : '0 yes',
      );
    }
    assert.match(asked[0]!.question, /^Put load on a\.example, which is not on this machine\?$/);
    const everything = { ...target, ...observe };
    assert.equal(await ask(everything), '0 yes');
    assert.equal(contactsBeyond({ programs: [], files: [], contacts: [] }).length, 0);
  });
});
