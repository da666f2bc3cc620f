import assert from 'node:assert/strict';
import { agentSentences, agentTable, selectAgents } from '../../../../src/measure/show/agentTable';
import type { AgentProgress, AgentSummary } from '../../../../src/measure/summary';
import { panelStrings } from '../../../../src/measure/show/panelStrings';
import { sampleAgents } from '../../results/sampleResult';

const agent = (index: number, p99Us: number, more: Partial<AgentSummary> = {}): AgentSummary => ({
  ...sampleAgents[0]!,
  index,
  node: `n${index}`,
  lastStep: { ...sampleAgents[0]!.lastStep!, p99Us },
  ...more,
});

describe('the agents of a run', () => {
  it('are compared in the last step only: an agent that was gone by then was not slower', () => {
    const earlier = agent(1, 900_000, {
      status: 'left',
      lastTick: 12,
      lastStep: { ...sampleAgents[0]!.lastStep!, index: 1, p99Us: 900_000 },
    });
    const said = agentSentences([earlier, agent(2, 20_000), agent(3, 10_000)], panelStrings);
    assert.equal(said[0], 'Left: agent 1 (n1).');
    assert.match(said[1]!, /^Slowest: agent 2 \(n2\), p99 20 ms; the others at most 10 ms\.$/);
  });

  it('have no slowest one where all are alike, and no words for a single one', () => {
    const [busiest, ...others] = agentSentences([agent(1, 5000), agent(2, 5000)], panelStrings);
    assert.match(busiest!, /^Busiest: /);
    assert.deepEqual(others, ['The figures of the agents are those of step 3.']);
    assert.deepEqual(agentSentences([agent(1, 5000)], panelStrings), others);
    assert.deepEqual(agentSentences([], panelStrings), []);
  });

  it('say while the run goes on who is silent, and who is on the way out', () => {
    const state = (status: AgentProgress['status'], index: number): AgentProgress => ({
      ...agent(index, 1000),
      ...{ status, lastTick: 12 },
    });
    const statuses = ['running', 'silent', 'leaving', 'done', 'left', 'lost'] as const;
    const agents = statuses.map((status, at) => state(status, at + 1));
    assert.deepEqual(
      agentTable(agents, panelStrings, 10).rows.map((row) => row.at(-1)),
      ['running', 'silent after 12 s', 'leaving', 'done', 'left after 12 s', 'lost after 12 s'],
    );
    assert.deepEqual(agentSentences(agents, panelStrings).slice(0, 3), [
      ...['Lost: agent 6 (n6).', 'Left: agent 5 (n5).', 'Silent: agent 2 (n2).'],
    ]);
    assert.deepEqual(
      selectAgents(agents, 4).map(({ index }) => index),
      [2, 3, 5, 6],
    );
  });

  it('are cut to those that matter where there are very many', () => {
    const many = Array.from({ length: 300 }, (_, at) => agent(at + 1, 1000 + at));
    many[7] = agent(8, 0, { status: 'lost' });
    assert.deepEqual(
      selectAgents(many, 3).map(({ index }) => index),
      [8, 299, 300],
    );
    const named = agentSentences(
      many.map((each) => ({ ...each, status: 'lost' })),
      panelStrings,
    )[0]!;
    assert.ok(named.length < 400 && named.includes('… (300)'), named);
  });
});
