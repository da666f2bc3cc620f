import type { Locator } from 'playwright-core';
import type { Workbench } from './workbench';

/** What people meet of a workbench beside editors: questions, messages, menus, and the side bar. */
export interface Widgets {
  dialog(): Locator;
  notice(text: string | RegExp): Locator;
  button(inside: Locator, name: string): Locator;
  /** A row of the side bar. */
  row(text: string | RegExp): Locator;
  quickInput(): Locator;
  /** A row of the list that asks for a choice. */
  pick(text: string | RegExp): Locator;
  /** Types into an input box that has this title, and presses Enter. */
  type(title: string | RegExp, text: string): Promise<void>;
  /** The same with an answer that the box takes: waits until it is gone. */
  fill(title: string | RegExp, text: string): Promise<void>;
  /** Chooses an entry of the menu of a row. */
  menu(of: Locator, entry: string): Promise<void>;
  /** Brings the extension's own side bar to the front. */
  showSidebar(): Promise<void>;
}

export function widgetsOf(workbench: Workbench): Widgets {
  const { page } = workbench;
  const rows = page.locator('.part.sidebar .monaco-list-row');
  const quickInput = (): Locator => page.locator('.quick-input-widget:visible');
  const resultsView = page.locator('.part.sidebar .pane-header', { hasText: 'Results' });
  const box = 'input[type=text], input[type=password]';
  const type: Widgets['type'] = async (title, text) => {
    await quickInput().filter({ hasText: title }).waitFor();
    await quickInput().locator(box).first().fill(text);
    await page.keyboard.press('Enter');
  };
  return {
    dialog: () => page.locator('.monaco-dialog-box'),
    notice: (text) => page.locator('.notification-toast', { hasText: text }).first(),
    button: (inside, name) => inside.locator('.monaco-button', { hasText: name }).first(),
    row: (text) => rows.filter({ hasText: text }).first(),
    quickInput,
    pick: (text) => quickInput().locator('.monaco-list-row', { hasText: text }).first(),
    type,
    async fill(title, text) {
      await type(title, text);
      // The extension checks the answer first; until then the box takes the keys of whatever comes next.
      // The box of the next question is the same element with another text.
      const answered = quickInput().locator(box).first();
      const waits = async (): Promise<boolean> =>
        (await answered.isVisible()) && (await answered.inputValue({ timeout: 1000 })) === text;
      while (await waits().catch(() => false)) await page.waitForTimeout(50);
    },
    async menu(of, entry) {
      // A message that comes or goes takes the focus, and with it an open menu.
      await workbench.command('Notifications: Clear All Notifications');
      await of.click({ button: 'right' });
      const item = page.locator('.monaco-menu .action-item', { hasText: entry }).first();
      await item.waitFor();
      // A menu takes no release of the button in its first moments.
      await item.click({ delay: 250 });
    },
    async showSidebar() {
      if (!(await resultsView.isVisible())) {
        await page.locator('a[aria-label*="SignalR Benchmark"]').first().click();
      }
      await resultsView.waitFor();
    },
  };
}

/** The percentiles in the panel, whatever is said about them. */
export const livePercentiles = (workbench: Workbench): Locator =>
  workbench
    .panel()
    .getByText(/^p50\s[\d.,]+\s(µs|ms|s)\s·/)
    .first();
