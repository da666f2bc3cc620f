import assert from 'node:assert/strict';
import type { ErrorCounts } from '../../../../src/base/errorClass';
import { finalScreen } from '../../../../src/cli/views/finalScreen';
import { exportRun, exporters } from '../../../../src/run/export/exporters';
import { recordedResult } from './recordedResult';

describe('reports of a result from elsewhere', () => {
  it('name some kinds of errors where a result has any number', async () => {
    const kinds = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`kind ${at}`, at + 1]),
    );
    const sizes = async (errors: ErrorCounts): Promise<Map<string, number>> => {
      const result = recordedResult();
      const many = {
        ...result,
        errors,
        steps: result.steps.map((step) => ({ ...step, errors, warmupErrors: errors })),
      };
      const found = new Map([
        [
          'terminal',
          finalScreen(many, 80)
            .map(({ text }) => text)
            .join('\n').length,
        ],
      ]);
      for (const { name } of exporters.filter((each) => each.name !== 'json'))
        found.set(
          name,
          (
            await exportRun({ kind: 'result', path: '/nowhere', result: many }, name, () =>
              Promise.resolve([]),
            )
          ).length,
        );
      return found;
    };
    const few = await sizes({ 'kind 1': 3_000 } as ErrorCounts);
    for (const [name, size] of await sizes(kinds))
      assert.ok(size - few.get(name)! < 10_000, `${name}: ${size}`);
  });
});
