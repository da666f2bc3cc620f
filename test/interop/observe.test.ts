import assert from 'node:assert/strict';
import { openObserver } from '../../src/session/observe/openObserver';
import { english } from '../../src/base/text';
import { until } from '../fakes/until';
import { loadRun } from '../load/loadRun';
import { sharedAspNetServer } from './aspnetServer';

describe('metrics of a real ASP.NET Core server', function () {
  const server = sharedAspNetServer();

  it('are read beside the load', async () => {
    const url = new URL('/metrics', server.url).href;
    const warnings: string[] = [];
    const context = {
      reference: () => undefined,
      readFile: () => Promise.reject(new Error('none')),
    };
    const observe = [{ kind: 'prometheus', url, series: [] }] as const;
    const observer = await openObserver({ observe, insecureTls: false }, context, {
      warn: (text) => warnings.push(text),
      t: english,
    });
    try {
      await loadRun({ useCase: 'echo', target: server.url });
      // Rates need two answers.
      await until('a rate is known', () => observer.values()['cpu'] !== undefined);
      const { cpu, gcPause, gcCollections, memory, heap, queue, threads } = observer.values();
      assert.ok(cpu! >= 0 && cpu! <= 1.1 && gcPause! >= 0 && gcPause! <= 1, `${cpu} ${gcPause}`);
      assert.ok(memory! > 10e6 && heap! > 1e5 && heap! < memory!, `${memory} ${heap}`);
      assert.ok(queue! >= 0 && threads! >= 1 && gcCollections! >= 0, `${queue} ${threads}`);
      assert.deepEqual(warnings, []);
    } finally {
      observer.close();
    }
  });
});
