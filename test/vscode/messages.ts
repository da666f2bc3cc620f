import * as vscode from 'vscode';
import { extension, until } from './editor';

type Level = 'information' | 'warning' | 'error';

/** A notification that the extension showed. */
export interface ShownMessage {
  readonly level: Level;
  readonly text: string;
  /** Labels of its buttons. */
  readonly actions: readonly string[];
}

export interface MessageRecorder {
  readonly shown: readonly ShownMessage[];
  /** Label that is pressed on the next messages that have it; none turns them away. */
  press: string | undefined;
  /** The first message whose text fits. */
  find(text: RegExp): ShownMessage | undefined;
  forget(): void;
  dispose(): void;
}

const names = {
  information: 'showInformationMessage',
  warning: 'showWarningMessage',
  error: 'showErrorMessage',
} as const;

/** Takes the place of the notifications until it is disposed; nothing is shown meanwhile. */
export function recordMessages(): MessageRecorder {
  const shown: ShownMessage[] = [];
  const window = vscode.window as unknown as Record<string, unknown>;
  const before = Object.values(names).map((name) => [name, window[name]] as const);
  const recorder: MessageRecorder = {
    shown,
    press: undefined,
    find: (text) => shown.find((message) => text.test(message.text)),
    forget: () => {
      shown.length = 0;
    },
    dispose: () => {
      for (const [name, real] of before) window[name] = real;
    },
  };
  for (const [level, name] of Object.entries(names)) {
    window[name] = (text: string, ...rest: unknown[]): Promise<string | undefined> => {
      const actions = rest.filter((each) => typeof each === 'string');
      shown.push({ level: level as Level, text, actions });
      return Promise.resolve(actions.find((action) => action === recorder.press));
    };
  }
  return recorder;
}

/** The messages of the test that is going on. */
export interface TestMessages {
  readonly messages: MessageRecorder;
  /** Waits for a message. */
  readonly said: (text: RegExp) => Promise<ShownMessage>;
}

/**
 * Called in a `describe`: records the messages of each test and leaves neither tabs nor a run to the next
 * one, whatever became of it.
 */
export function recordingMessages(): TestMessages {
  let messages: MessageRecorder;

  before(() => extension().activate());
  beforeEach(() => {
    messages = recordMessages();
  });
  afterEach(async () => {
    try {
      await stopRun(messages);
    } finally {
      messages.dispose();
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    }
  });
  return {
    get messages() {
      return messages;
    },
    said: (text) =>
      until(
        () => `${String(text)} among: ${messages.shown.map((each) => each.text).join(' | ')}`,
        () => messages.find(text),
      ),
  };
}

/** Stops a run that is going on; one that has its result may still be closing. */
async function stopRun(messages: MessageRecorder): Promise<void> {
  messages.forget();
  await until('the end of all runs', async () => {
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    return messages.find(/^No run is going on/);
  });
}
