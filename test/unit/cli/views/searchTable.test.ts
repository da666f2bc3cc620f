import assert from 'node:assert/strict';
import { textWidth } from '../../../../src/cli/views/line';
import { searchLines } from '../../../../src/cli/views/runTables';
import { searchSample } from '../../../fakes/searchSample';

const texts = (search = searchSample): string[] => searchLines(search).map(({ text }) => text);

describe('the table of a search', () => {
  it('has a line for each value, with a bar and what came of it', () => {
    assert.deepEqual(texts(), [
      '      senders     p50     p99    lost  latency, log scale',
      '          100   1.1ms     4ms       0  ███░░           passed',
      '          200   1.2ms     5ms       0  ████░░          passed',
      '          400   1.5ms     9ms       0  ████░░          passed',
      '          600   3.1ms    38ms       0  █████░░░        passed',
      '          650   5.4ms   210ms       0  ██████░░░░░     passed',
      '          675     9ms   870ms       0  ██████░░░░░░░   passed',
      '▸         681    11ms   930ms       0  ███████░░░░░░   passed, twice',
      '          687    14ms    1.1s       0  ███████░░░░░░   p99 1.1 s > 1 s, twice',
      '          700    41ms    1.3s       0  █████████░░░░   p99 1.3 s > 1 s',
      '          800   620ms    1.9s       0  ████████████░░  p99 1.9 s > 1 s',
      '                                      █ up to p50, ░ up to p99',
    ]);
  });

  it('fits 80 columns whatever is in it', () => {
    const [first] = searchSample.steps;
    const steps = Array.from({ length: 100 }, (_, at) => ({
      ...first!,
      ...{ index: at + 1, value: 1_000_000_000 + at, p50: null, p99: null, lost: 99_999_999 },
      status: 'fail' as const,
      broken: { metric: 'dropped' as const, limit: 0.01, value: 0.5 },
    }));
    const lost = { metric: 'timeToAll.p99.99', limit: 1, value: null } as const;
    for (const broken of [lost, { ...lost, name: 'a name that takes a lot of room' }]) {
      const twice = [...steps, ...steps].map((step) => ({ ...step, broken }));
      for (const text of texts({ ...searchSample, steps: twice }))
        assert.ok(textWidth(text) <= 80, `${textWidth(text)}: ${text}`);
    }
    for (const text of texts({ ...searchSample, steps }))
      assert.ok(textWidth(text) <= 80, `${textWidth(text)}: ${text}`);
    assert.ok(texts({ ...searchSample, steps }).length < 50);
  });

  it('says of a wide interval why it is that', () => {
    const wide = { ...searchSample, low: 400, high: 800 };
    assert.match(texts(wide).at(-1)!, /^ interval 100 % wide, asked for 5 %: what lies between/);
    assert.match(texts({ ...wide, ended: 'budget' }).at(-1)!, /more time narrows it$/);
  });

  it('says how often a value held that went both ways', () => {
    const [first] = searchSample.steps;
    const both = [first!, { ...first!, status: 'fail' as const }, first!];
    const lines = texts({ ...searchSample, steps: both.map((step) => ({ ...step, value: 684 })) });
    assert.match(lines[1]!, /passed 2 of 3 times$/);
  });

  it('counts no step that this machine has not offered in time, and has room for what fell behind', () => {
    const [first] = searchSample.steps;
    const invalid = { ...first!, status: 'invalid' as const };
    const broken = { metric: 'backlog' as const, limit: 0.01, value: 0.031 };
    const behind = { ...first!, value: 700, status: 'fail' as const, broken };
    const tried = [invalid, first!, behind, behind, { ...invalid, value: 700 }, behind];
    const lines = texts({ ...searchSample, low: 100, high: 700, steps: tried });
    assert.match(lines[1]!, / passed$/);
    assert.match(lines[2]!, / 3\.1 % behind, 3 times$/);
    assert.match(texts({ ...searchSample, steps: [behind] })[1]!, / fell 3\.1 % behind$/);
    assert.match(texts({ ...searchSample, steps: [invalid] })[1]!, / not offered in time$/);
    const open = { ...first!, status: 'incomplete' as const };
    assert.match(texts({ ...searchSample, steps: [open] })[1]!, / left open$/);
    const short = { ...open, tooShort: true as const };
    assert.match(texts({ ...searchSample, steps: [short] })[1]!, / too short to say$/);
  });

  it('is empty without a step, and shows no number that is none', () => {
    assert.deepEqual(texts({ ...searchSample, steps: [] }), []);
    const [first] = searchSample.steps;
    const steps = [{ ...first!, p50: 0, p99: 0 }];
    assert.doesNotMatch(texts({ ...searchSample, steps }).join('\n'), /NaN|Infinity|undefined/);
  });
});
