import assert from 'node:assert/strict';
import { brief, problemOf, withConfig } from '../parsed';

describe('connections that come, go and move', () => {
  it('short lives are a warning that says how long connections do not send', () => {
    for (const [lifetime, share] of [
      ['1s', 50],
      ['100ms', 91],
      ['4s', 20],
    ] as const) {
      const text = withConfig(`lifetime: ${lifetime}`);
      assert.deepEqual(brief(text), [`warning short-life "${lifetime}"`]);
      const { message } = problemOf(text, 'short-life');
      assert.ok(message.includes(`that is ${share} % of the time`), message);
    }
    assert.deepEqual(brief(withConfig('lifetime: 5s')), []);
  });

  const moving = (...config: string[]): string =>
    `${withConfig('connections: 100', ...config)}scenario:\n  name: frequentJoinLeaveGroup\n  parameters:\n    groupCount: 10\n`;

  it('a last step in which everybody sends is a warning where connections are to move', () => {
    const text = moving('baseSending: 10', 'step: 10');
    assert.deepEqual(brief(text), ['warning nobody-moves "frequentJoinLeaveGroup"']);
    assert.match(problemOf(text, 'nobody-moves').message, /all 100 connections send/);
    assert.deepEqual(brief(moving('baseSending: 10', 'step: 10', 'sendingSteps: 9')), []);
    assert.deepEqual(brief(text.replace('frequentJoinLeaveGroup', 'sendToGroup')), []);
  });

  it('in a mix the senders of all entries count', () => {
    const mix = (echoes: number): string =>
      `${withConfig('connections: 100', 'baseSending: 100')}scenarios:\n  - { name: echo, senders: ${echoes} }\n  - { name: frequentJoinLeaveGroup, senders: 10, parameters: { groupCount: 10 } }\n`;
    assert.deepEqual(brief(mix(90)), ['warning nobody-moves "frequentJoinLeaveGroup"']);
    assert.deepEqual(brief(mix(89)), []);
  });
});
