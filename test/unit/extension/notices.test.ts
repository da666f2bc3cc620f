import assert from 'node:assert/strict';
import type * as Notices from '../../../src/extension/notices';
import { withVscode } from '../../fakes/fakeVscode';

const hostile = 'run [Show report](command:workbench.action.quit) [x](https://evil.example "t")';
const isLink = /\[[^\]]+\]\((?:https?:|command:|file:)/;

describe('notices', () => {
  const shown: unknown[] = [];
  const record = (...all: unknown[]): Promise<undefined> => {
    shown.push(all);
    return Promise.resolve(undefined);
  };
  const vscode = {
    l10n: { t: (text: string) => text },
    ProgressLocation: { Notification: 15 },
    window: {
      ...{ showInformationMessage: record, showWarningMessage: record, showErrorMessage: record },
      setStatusBarMessage: record,
      withProgress: (
        options: object,
        work: (progress: { report(value: unknown): void }) => unknown,
      ) => {
        shown.push(options);
        return work({ report: (value) => shown.push(value) });
      },
    },
  };
  let notices: typeof Notices;
  before(async () => {
    notices = await withVscode(vscode, () => import('../../../src/extension/notices.js'));
  });

  it('show no text as a link, whatever way it goes', async () => {
    for (const kind of ['Information', 'Warning', 'Error'] as const) {
      await notices.ask(kind, hostile, 'Open');
      notices.say(kind, hostile);
      await notices.offer(kind, hostile, {});
    }
    await notices.askModal(hostile, hostile, 'Run');
    notices.sayBriefly(hostile, 1000);
    await notices.showWhile(hostile, (report) => {
      report(hostile);
      return Promise.resolve();
    });
    assert.equal(shown.length, 13);
    for (const each of shown) {
      assert.doesNotMatch(JSON.stringify(each), isLink);
      assert.match(JSON.stringify(each), /Show report/);
    }
  });

  it('press what stands behind a button', async () => {
    let pressed = 0;
    Object.assign(vscode.window, {
      showErrorMessage: (_text: string, ...buttons: string[]) => Promise.resolve(buttons[1]),
    });
    await notices.offer('Error', 'no', { no: () => (pressed += 10), yes: () => (pressed += 1) });
    assert.equal(pressed, 1);
  });
});
