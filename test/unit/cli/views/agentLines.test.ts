import assert from 'node:assert/strict';
import { agentLines } from '../../../../src/cli/views/runTables';
import { textWidth } from '../../../../src/cli/views/line';
import { sampleAgents } from '../../results/sampleResult';

const shown = (width: number): string[] => agentLines(sampleAgents, width).map(({ text }) => text);

describe('the agents on the last screen', () => {
  it('have a table of 80 columns, and a line for who stands out', () => {
    assert.deepEqual(shown(80), [
      'agents',
      'agent node                   share  received     p99   CPU slip p99  clock ±',
      '    1 …d-12345678-vmss000000  33 %   316,660    40ms  21 %    900µs    380µs',
      '    2 …d-12345678-vmss000001  33 %   316,660    57ms  34 %    1.4ms    420µs',
      '    3 …d-12345678-vmss000002  33 %         –       –     –        –    460µs',
      '      lost after 96 s',
      ' Lost: agent 3 (aks-load-12345678-vmss000002).',
      ' Slowest: agent 2 (aks-load-12345678-vmss000001), p99 57 ms; the others at most',
      '  40 ms.',
      ' Busiest: agent 2 (aks-load-12345678-vmss000001), CPU 34 %, slip p99 1.4 ms.',
      ' The figures are those of step 3.',
    ]);
    for (const width of [80, 100])
      for (const text of shown(width)) assert.ok(textWidth(text) <= width, text);
  });

  it('are not there for a run of one process', () => {
    assert.deepEqual(agentLines([], 80), []);
  });

  it('are cut where there are very many', () => {
    const many = Array.from({ length: 200 }, (_, at) => ({ ...sampleAgents[0]!, index: at + 1 }));
    const lines = agentLines(many, 80).map(({ text }) => text);
    assert.ok(lines.length < 30);
    assert.ok(lines.includes('      180 more agents are not shown.'));
  });
});
