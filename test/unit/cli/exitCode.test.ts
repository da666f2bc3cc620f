import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import {
  exitCodeForError,
  exitCodeForResult,
  SignalError,
  type EndingSignal,
} from '../../../src/cli/exitCode';
import type { AgentSummary, Ending, VerdictStatus } from '../../../src/measure/summary';

describe('exit codes', () => {
  const connectUs = { p50: 0, p99: 0, max: 0 };
  const connections = {
    requested: 10,
    connected: 10,
    failed: 0,
    dropped: 0,
    reconnected: 0,
    connectUs,
  };
  const cases: [Ending, VerdictStatus, EndingSignal | undefined, number][] = [
    ['completed', 'pass', undefined, 0],
    ['completed', 'fail', undefined, 1],
    ['threshold', 'fail', undefined, 1],
    ['completed', 'invalid', undefined, 4],
    ['threshold', 'invalid', undefined, 4],
    ['targetLost', 'incomplete', undefined, 3],
    ['workerLost', 'incomplete', undefined, 5],
    ['interrupted', 'incomplete', 'SIGINT', 130],
    ['interrupted', 'incomplete', 'SIGTERM', 143],
    ['interrupted', 'incomplete', undefined, 130],
    ['completed', 'pass', 'SIGINT', 0],
    ['completed', 'incomplete', undefined, 1],
  ];
  for (const [ending, status, signal, code] of cases) {
    it(`${ending}, ${status}${signal ? `, ${signal}` : ''}: ${code}`, () => {
      const verdict = { status, reasons: [] };
      assert.equal(exitCodeForResult({ ending, verdict, connections }, signal), code);
    });
  }

  it('on agents, what is incomplete: 6, also where the clocks leave it open', () => {
    const agents: AgentSummary[] = [];
    const codeOf = (ending: Ending, status: VerdictStatus): number =>
      exitCodeForResult({ ending, verdict: { status, reasons: [] }, connections, agents });
    assert.equal(codeOf('workerLost', 'incomplete'), 6);
    assert.equal(codeOf('workerLost', 'fail'), 1);
    assert.equal(codeOf('completed', 'incomplete'), 6);
    assert.equal(codeOf('completed', 'fail'), 1);
    assert.equal(codeOf('completed', 'pass'), 0);
  });

  it('no connection at all: 3', () => {
    assert.equal(
      exitCodeForResult({
        ending: 'completed',
        verdict: { status: 'incomplete', reasons: [] },
        connections: { ...connections, connected: 0 },
      }),
      3,
    );
  });

  it('errors: what was expected 2 or 3, a signal its own, a defect 5', () => {
    assert.equal(exitCodeForError(new ExpectedError('result-folder', '')), 2);
    assert.equal(exitCodeForError(new ExpectedError('anything', '')), 2);
    assert.equal(exitCodeForError(new ExpectedError('target-unreachable', '')), 3);
    assert.equal(exitCodeForError(new SignalError('SIGINT')), 130);
    assert.equal(exitCodeForError(new SignalError('SIGTERM')), 143);
    assert.equal(exitCodeForError(new TypeError('x')), 5);
    assert.equal(exitCodeForError('text'), 5);
  });
});
