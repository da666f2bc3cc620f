import assert from 'node:assert/strict';
import fc from 'fast-check';
import { markdownText } from '../../../../src/run/export/plainText';
import { interruptedMarkdown, summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { searchSample } from '../../../fakes/searchSample';
import {
  failedResult,
  mixedStep,
  sampleResult,
  sampleStep,
  unusualResult,
} from '../../results/sampleResult';

describe('summaryMarkdown', () => {
  it('says verdict, target, load, steps and Units', () => {
    const text = summaryMarkdown(sampleResult());
    assert.match(text, /^### SignalR Benchmark: /);
    assert.match(text, /\n\*\*✓ passed; step 3: .*\*\*\n/);
    assert.match(text, /- load: sendToGroup, groups of 10, 2 KB each second/);
    assert.match(text, /\| 3 \| 1,900 \|/);
    assert.match(text, /\*\*Unit 10: /);
  });

  it('says first what a failed run did not carry, then how the planned size compares', () => {
    const text = summaryMarkdown(failedResult());
    assert.match(text, /\n\*\*Step 2 failed; step 1 passed \(/);
    assert.match(
      text,
      /\n- Too much for Unit 5: it takes Unit 7: .*\n- Measured in step 2 .*13,000 expected and 1 extra/,
    );
  });

  it('lists the values of a search', () => {
    const text = summaryMarkdown({ ...sampleResult(), search: searchSample });
    assert.match(
      text,
      /\n\*\*✓ passed at 681 senders, failed at 687: p99 1\.1 s, limit 1 s \(12 steps/,
    );
    assert.match(text, /\n\| value \| p50 \| p99 \| lost \| steps that held \|\n/);
    assert.match(text, /\n\| 681 senders \| 11ms \| 930ms \| 0 \| passed 2 of 2 \|\n/);
    assert.match(
      text,
      /\n\| 687 senders \| 14ms \| 1.1s \| 0 \| passed 0 of 2: p99 1\.1 s, limit 1 s \|\n/,
    );
  });

  it('counts apart what this machine has not offered in time to a search', () => {
    const [first] = searchSample.steps;
    const steps = [{ ...first!, status: 'invalid' as const }, first!, first!];
    const text = summaryMarkdown({ ...sampleResult(), search: { ...searchSample, steps } });
    assert.match(text, /\| passed 2 of 2; 1 not offered in time \|\n/);
    const short = [{ ...first!, status: 'incomplete' as const, tooShort: true as const }];
    const said = summaryMarkdown({
      ...sampleResult(),
      search: { ...searchSample, steps: short },
    });
    assert.match(said, /\| passed 0 of 0; too short to say \|\n/);
  });

  it('says how the load was driven only where that is unusual', () => {
    const how =
      '- how: over LongPolling, messagepack, official client, dialect measure\n- connected';
    assert.ok(summaryMarkdown(unusualResult).includes(how));
    assert.ok(!summaryMarkdown(sampleResult()).includes('how:'));
  });

  it('has a table of the use cases of a mix', () => {
    const text = summaryMarkdown(sampleResult({ steps: [mixedStep(1)] }));
    assert.match(
      text,
      /\n\n\| use case \| step \| senders \|.*\n.*\n\| sendToGroup \| 1 \| 525 \|/,
    );
    assert.match(text, /\| echo \| 1 \| 175 \|.*\| 5 \|/);
  });

  it('has every reason, and says where lost deliveries count in the percentiles', () => {
    const judgedUs = { p50: 2800, p90: 1, p95: 1, p99: null, p999: null, p9999: null, max: null };
    const lossy = { ...sampleStep(1, { lost: 30_000 }), judgedUs };
    const text = summaryMarkdown(sampleResult({ steps: [lossy] }));
    assert.match(text, /\n\*\*✗ failed; step 1: .*\(and 1 more\)\*\*\n\n- step 1: 91\.4 % of/);
    assert.match(text, /\| 2\.8ms \| lost \| lost \| lost \| 30,000 \|/);
    assert.match(text, /\n\nPercentiles count lost deliveries as slower than all that arrived\.\n/);
    assert.doesNotMatch(summaryMarkdown(sampleResult()), /Percentiles count/);
  });

  it('escapes what would be Markdown, and redacts what would be a secret', () => {
    const result = sampleResult();
    const text = summaryMarkdown({
      ...result,
      id: '![x](http://evil)<img>',
      target: { kind: 'hubUrl', url: 'http://me:password@host/hub?access_token=abc' },
    });
    assert.ok(!text.includes('![x]('));
    assert.ok(!text.includes('<img>'.replace('<', ' <')));
    assert.ok(text.includes('\\<img\\>'));
    assert.ok(!text.includes('password'));
    assert.ok(!text.includes('abc'));
  });

  it('names nobody, links nowhere and has no formulas, whatever the text', () => {
    const parts = ['@name', '#1', 'GH-1', '!1', 'https://evil.example', 'www.evil.example', '$x$'];
    const more = [
      'a@b.example',
      '&#64;name',
      '&commat;name',
      '`',
      '\\',
      '[',
      ']',
      '<',
      '|',
      'owner/name#1',
    ];
    const alive = /[@#](?!\u200b)|!\d|GH-\d|:\/\/|www\.|\$|(?<!\\)[`[\]<>|]/i;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts, ...more, ' ', 'a', '\n')), (texts) => {
        const line = markdownText(texts.join(''));
        const shown = line.replace(/\\\\|&(?:amp|#36);/g, '').replaceAll('&#8203;', '\u200b');
        assert.doesNotMatch(shown, alive, line);
        // References to characters are ours alone.
        assert.doesNotMatch(shown, /&/, line);
      }),
    );
    const text = parts.join(' ');
    const result = sampleResult();
    const reports = [
      summaryMarkdown({
        ...result,
        ...{
          id: text,
          target: { kind: 'hubUrl', url: text },
          errors: { [text]: 1 },
        },
        verdict: {
          status: 'fail',
          reasons: [
            { code: 'slo', message: text },
            { code: 'slo', message: text },
          ],
        },
        recommendationProblem: text,
      }),
      interruptedMarkdown(text, { kind: 'interrupted', path: '/x', steps: [], problem: text }),
    ];
    for (const report of reports) {
      assert.match(report, /@&#8203;name #&#8203;1/);
      assert.doesNotMatch(report, /@name|#1|GH-1|!1|:\/\/|www\.|\$x/);
    }
  });

  it('says of an interrupted run that it gives no Units', () => {
    const text = interruptedMarkdown('run', { kind: 'interrupted', path: '/x', steps: [] });
    assert.match(text, /interrupted; .* gives no Units/);
  });
});
