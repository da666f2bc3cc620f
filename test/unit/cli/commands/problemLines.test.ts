import assert from 'node:assert/strict';
import { ProblemLines, type ProblemLine } from '../../../../src/cli/commands/serveCommand';

describe('problem lines', () => {
  it('report the same sentence once with its count, and of a flood of others only the first twenty', () => {
    const lines: ProblemLine[] = [];
    const problems = new ProblemLines((line) => lines.push(line));
    for (let index = 0; index < 300; index++) problems.report('the same');
    for (let index = 0; index < 100; index++) problems.report(`another ${index}`);
    assert.equal(lines.length, 0);
    problems.flush();
    assert.deepEqual(lines[0], { problem: 'the same', count: 300 });
    assert.equal(lines.length, 20);
    assert.equal(
      lines.reduce((sum, { count }) => sum + count, 0),
      400,
    );
    problems.flush();
    assert.equal(lines.length, 20);
  });

  it('are reported a moment later by themselves', async () => {
    const line = await new Promise<ProblemLine>((resolve) => {
      new ProblemLines(resolve).report('soon');
    });
    assert.deepEqual(line, { problem: 'soon', count: 1 });
  });
});
