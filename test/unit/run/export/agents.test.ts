import assert from 'node:assert/strict';
import { agentColumns } from '../../../../src/measure/show/agentTable';
import type { AgentSummary } from '../../../../src/measure/summary';
import {
  listAllMetrics,
  LiveNumbers,
  createRunMetrics,
  formatOpenMetrics,
} from '../../../../src/run/export/runMetrics';
import { stepsCsv } from '../../../../src/run/export/stepsCsv';
import { sampleAgents, sampleResult, sampleSnapshot } from '../../results/sampleResult';

const result = sampleResult({ agents: sampleAgents });

describe('agents in reports', () => {
  it('are rows of their own in CSV, after the step that they were part of last', () => {
    const [first, second, third] = sampleAgents as [AgentSummary, AgentSummary, AgentSummary];
    const [one] = result.steps;
    const steps = [1, 2, 3].map((index) => ({ ...one!, index }));
    const early = { ...first, lastStep: { ...first.lastStep!, index: 1, sent: 7 } };
    const evil = { ...second, node: '=HYPERLINK("http://b"),x' };
    const lines = stepsCsv({ ...result, steps, agents: [early, evil, third] })
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const [heads = [], ...rows] = lines;
    for (const row of rows) assert.equal(row.length, heads.length, row.join());
    const cell = (row: readonly string[], head: string): string => row[heads.indexOf(head)]!;
    const shown = ['index', 'agent', 'agent.node', 'agent.status', 'agent.sent', 'agent.p99Us'];
    assert.deepEqual(
      rows.map((row) => shown.map((head) => cell(row, head))),
      [
        ['1', '', '', '', '', ''],
        ['1', '1', 'aks-load-12345678-vmss000000', 'done', '7', '40100'],
        ['2', '', '', '', '', ''],
        ['3', '', '', '', '', ''],
        ['3', '2', 'HYPERLINKhttp:bx', 'done', '31666', '57200'],
        ['3', '3', 'aks-load-12345678-vmss000002', 'lost', '', ''],
      ],
    );
    assert.deepEqual(
      rows.map((row) => cell(row, 'received') !== ''),
      [true, false, true, true, false, false],
    );
    const without = stepsCsv({ ...sampleResult(), steps });
    assert.doesNotMatch(without, /agent[,.]/);
  });

  it('are metrics while the run goes on, as they were last said to stand', () => {
    const live = new LiveNumbers();
    const agents = sampleAgents.map((agent) => ({ ...agent, status: 'silent' as const }));
    live.update({ ...sampleSnapshot(1), agents });
    live.update(sampleSnapshot(2));
    const text = formatOpenMetrics(createRunMetrics(live.numbers));
    assert.equal(text.match(/^signalr_bench_agent_state\{.*="silent"\} 1$/gm)?.length, 3);
    const names = listAllMetrics().map(({ name }) => name);
    for (const { metric } of agentColumns) assert.ok(names.includes(`agent.${metric}`), metric);
  });
});
