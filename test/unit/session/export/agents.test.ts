import assert from 'node:assert/strict';
import { htmlReport } from '../../../../src/session/export/htmlReport';
import { summaryMarkdown } from '../../../../src/session/export/summaryMarkdown';
import { sampleAgents, sampleResult } from '../../results/sampleResult';

const hostile = { ...sampleAgents[1]!, node: '<img src=x>|[a](http://b)\u001b[2J' };
const result = sampleResult({ agents: [sampleAgents[0]!, hostile, sampleAgents[2]!] });

describe('agents in reports', () => {
  it('are a table in Markdown, with who stands out below it', () => {
    const text = summaryMarkdown(result);
    assert.match(text, /\| Agent \| Node \| Share \|/);
    assert.match(text, /\| 3 \| aks-load-12345678-vmss000002 \| 33 % \| – .*\| lost after 96 s \|/);
    assert.match(text, /- Lost: agent 3 \(aks-load-12345678-vmss000002\)\./);
    assert.doesNotMatch(summaryMarkdown(sampleResult()), /\| Agent \|/);
  });

  it('are a card of the page', () => {
    const page = htmlReport(result, []);
    assert.match(page, /<h2>Agents<\/h2>/);
    assert.match(page, /<li>Lost: agent 3 /);
    assert.doesNotMatch(htmlReport(sampleResult(), []), /<h2>Agents<\/h2>/);
  });

  it('have names that are nothing but text', () => {
    for (const text of [summaryMarkdown(result), htmlReport(result, [])]) {
      assert.doesNotMatch(text, /(?<!\\)<img/);
      assert.ok(!text.includes('\u001b'), 'a control character');
    }
    assert.ok(!summaryMarkdown(result).includes('[a](http://b)'));
  });
});
