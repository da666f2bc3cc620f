import { english } from '../../../src/base/text';
import { Emitter } from '../../../src/base/async';
import assert from 'node:assert/strict';
import { startPanelSession, type PanelOrders } from '../../../src/extension/panel/panelSession';
import { panelStrings } from '../../../src/measure/show/panelStrings';
import { sampleEstimate, sampleScenario } from '../../unit/results/sampleResult';
import { unless, type Subject } from '../subject';

/** A page that has sent a message. @returns what it made the extension do */
function sent(message: unknown): { done: string[]; logged: string[] } {
  const [done, logged]: [string[], string[]] = [[], []];
  const messages = new Emitter<unknown>();
  const never = new Emitter<never>().event;
  const order = (name: string) => () => void done.push(name);
  const orders: PanelOrders = {
    stop: order('stop'),
    runAgain: order('runAgain'),
    openScenario: order('openScenario'),
    copySummary: order('copySummary'),
  };
  const run = {
    ...{ id: 'r', title: 't', targetUrl: 'u', startedAt: '' },
    ...{ scenario: sampleScenario, estimate: sampleEstimate },
  };
  const source = {
    ...{ run, snapshots: [], result: undefined, spectra: [], interrupted: false, orders },
    ...{ onSnapshot: never, onFinished: never },
  };
  const port = {
    post: () => void done.push('ready'),
    onMessage: messages.event,
    onVisibility: never,
  };
  const said = { strings: panelStrings, t: english };
  const testConnection = (): void => void done.push('testConnection');
  startPanelSession(port, source, { ...said, testConnection, log: (text) => logged.push(text) });
  messages.fire(message);
  return { done, logged };
}

export const panelMessages: Subject = {
  name: 'panel-messages',
  holds:
    'a page makes the extension do the one thing that the type of its message names, or a line in the log',
  seeds: () => [
    ...['ready', 'stop', 'runAgain', 'openScenario', 'copySummary'].map((type) =>
      JSON.stringify({ type }),
    ),
    '{"type":["stop"]}',
    '{"type":{"toString":1}}',
    '{"type":"__proto__"}',
  ],
  pieces: ['"constructor"', '"hasOwnProperty"', '"toString":', 'null', '[[', '{"type":'],
  check: (input) => {
    const message = unless([SyntaxError], () => JSON.parse(input.toString('utf8')) as unknown);
    const { done, logged } = sent(message);
    const type = (message as { type?: unknown } | null | undefined)?.type;
    if (done.length === 0) assert.ok(logged.length === 1 && logged[0]!.length < 200);
    else assert.deepEqual([done, logged], [[type], []]);
  },
};
