import assert from 'node:assert/strict';
import fc from 'fast-check';
import { escapeMarkdown } from '../../../../src/run/export/plainText';
import { interruptedMarkdown, summaryMarkdown } from '../../../../src/run/export/summaryMarkdown';
import { searchSample } from '../../../fakes/searchSample';
import { sampleResult, unusualResult } from '../../results/sampleResult';

describe('summaryMarkdown', () => {
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
        const line = escapeMarkdown(texts.join(''));
        const shown = line.replace(/\\\\|&(?:amp|#36);/g, '').replaceAll('&#8203;', '\u200b');
        assert.doesNotMatch(shown, alive, line);
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
});
