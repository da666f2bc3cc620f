import assert from 'node:assert/strict';
import {
  completionsAt,
  type Completion,
  templateText,
} from '../../../../src/extension/language/completionsAt';
import { configKeys } from '../../../../src/scenario/keys/configKeys';
import { analyseScenario, diagnosticsOf } from '../../../../src/extension/language/analyseScenario';
import { useCases } from '../../../../src/usecases/registry';
import { atCursor, crlf } from './atCursor';
import { notRunnable } from '../../../../src/scenario/check/notRunnable';
import { parseScenario } from '../../../../src/scenario/parseScenario';

const hub = 'http://localhost:5050/chat';
const names = { environment: ['API_KEY', 'HUB_URL'], secrets: ['azure'], hubs: [hub] };

function complete(marked: string): Completion[] {
  const { analysis, offset } = atCursor(marked);
  return completionsAt(analysis, offset, names);
}
const labels = (marked: string): string[] => complete(marked).map(({ label }) => label);

/** The text after the completion was taken, placeholders filled in. */
function taken(marked: string, label: string): string {
  const { text } = atCursor(marked);
  const found = complete(marked).find((completion) => completion.label === label);
  assert.ok(found, `no ${label}`);
  return text.slice(0, found.offset) + filled(found) + text.slice(found.offset + found.length);
}

const filled = ({ insert, snippet }: Completion): string =>
  snippet ? insert.replace('$0', '') : insert;

const payloadKeys = [
  'messageSizes',
  'payload',
  'payloadFile',
  'intervalDistribution',
  'intervalSpread',
];

describe('completionsAt: arguments of own methods', () => {
  const file = 'scenario:\n  name: invoke\n  parameters:\n    arguments:\n      - ';

  it('are placeholders, in quotes where there are none yet', () => {
    assert.ok(labels(`${file}|\n`).includes('{sender}'));
    assert.equal(taken(`${file}|\n`, '{sender}'), `${file}'{sender}'\n`);
    assert.equal(taken(`${file}'to {se|}'\n`, '{sender}'), `${file}'to {sender}'\n`);
    assert.deepEqual(labels(`${file}'to {sender} and |'\n`), []);
  });

  it('offers what is filled when a connection opens, and when an identity is made', () => {
    const opens = ['{senderIndex}', '{group}', '{identity.COLUMN}', '{data.COLUMN}'];
    for (const text of [
      "config:\n  headers:\n    X-User: 'u-{|}'\n",
      "config:\n  query: { room: '{|}' }\n",
      "config:\n  accessToken: '{|}'\n",
    ])
      assert.deepEqual(labels(text).slice(0, 4), opens, text);
    for (const text of [
      "config:\n  identities:\n    rule: 'u-{|}'\n",
      "config:\n  identities:\n    command:\n      - '{|}'\n",
      "config:\n  identities: { url: 'http://a.test/{|}' }\n",
    ])
      assert.deepEqual(labels(text), ['{index}', '{data.COLUMN}'], text);
    assert.equal(
      taken("config:\n  headers:\n    X-User: 'u-{id|}'\n", '{identity.COLUMN}'),
      "config:\n  headers:\n    X-User: 'u-{identity.COLUMN}'\n",
    );
    assert.ok(labels('config:\n  headers:\n    X-User: |\n').includes('{senderIndex}'));
  });

  it('are the same in items of streams, but for those of receivers', () => {
    const items = file.replace('arguments', 'streamingItems');
    assert.equal(taken(`${items}|\n`, '{sequence}'), `${items}'{sequence}'\n`);
    assert.ok(!labels(`${items}|\n`).includes('{group}'));
  });
});

describe('completionsAt: sessions, identities and what is observed', () => {
  const steps = 'scenario:\n  name: session\n  parameters:\n    sessionInterval: 30s\n    steps:\n';
  const kept = `${steps}      - call: A\n        keep: { last: $ }\n      - repeat: 2\n        steps:\n          - call: B\n            keep:\n              id: $.id\n`;
  const later = '      - call: C\n        keep: { after: $ }\n';

  it('offers what a session has kept before, in arguments and in conditions', () => {
    const inArguments = labels(`${kept}      - call: D\n        arguments: ['{|}']\n${later}`);
    assert.deepEqual(inArguments.slice(0, 3), ['{last}', '{id}', '{text:2KB}']);
    assert.ok(!inArguments.includes('{after}'));
    assert.deepEqual(labels(`${kept}      - if: |\n${later}`), ['last', 'id']);
  });

  it('offers the kinds first, then what belongs to the one that stands there', () => {
    const identities = 'config:\n  identities:\n';
    assert.deepEqual(labels(`${identities}    |\n`), ['file', 'rule', 'command', 'url']);
    const ofCommand = labels(`${identities}    command: [node]\n    |\n`);
    assert.deepEqual(ofCommand, ['env', 'count', 'rate', 'inFlight', 'timeout']);
    const observe = 'config:\n  observe:\n';
    assert.deepEqual(labels(`${observe}    - |\n`), ['prometheus', 'azureMonitor']);
    assert.deepEqual(labels(`${observe}    - azureMonitor: x\n      |\n`), ['region']);
  });

  it('offers the kinds of steps, and the keys of the one that stands there', () => {
    const all = ['call', 'repeat', 'wait', 'stream', 'on', 'choose', 'if'];
    assert.deepEqual(labels(`${steps}      - |\n`), all);
    assert.deepEqual(labels(`${steps}      - on: A\n        |\n`), [
      'within',
      'keep',
      'perSession',
      'eventSize',
    ]);
  });
});

describe('completionsAt: objectives', () => {
  it('are offered as keys, with dots in their names too', () => {
    const offered = labels('slo:\n  |\n');
    for (const name of ['p99', 'rate', 'errors', 'errors.timeout', 'connect.p99'])
      assert.ok(offered.includes(name), name);
    assert.ok(!labels('slo:\n  errors.timeout: 1\n  errors.|\n').includes('errors.timeout'));
  });

  it('have what may stand beside the limit', () => {
    const keys = ['limit', 'step', 'abort', 'after'];
    assert.deepEqual(labels('slo:\n  p99:\n    |\n'), keys);
    assert.deepEqual(labels('slo:\n  p75: { | }\n'), keys);
    assert.deepEqual(labels('slo:\n  p75: { step: | }\n'), ['each', 'last']);
    assert.deepEqual(labels('slo:\n  rate: 50|\n'), ['50/s']);
  });

  it('in a list have a metric, a limit and a name', () => {
    const keys = labels('slo:\n  - |\n');
    assert.deepEqual(keys, ['metric', 'limit', 'name', 'step', 'abort', 'after']);
    assert.ok(labels('slo:\n  - metric: |\n').includes('connect.p99'));
  });
});

describe('completionsAt: keys', () => {
  it('proposes the keys at the top that are not there yet', () => {
    assert.deepEqual(labels('config:\n  unit: 5\n|\n'), [
      'scenario',
      'scenarios',
      'slo',
      'search',
      'mode',
      'kind',
    ]);
  });

  it('does not propose a mix beside a scenario', () => {
    assert.deepEqual(labels('scenario:\n  name: echo\n|'), [
      'config',
      'slo',
      'search',
      'mode',
      'kind',
    ]);
  });

  it('proposes the keys of config without those present', () => {
    const found = labels('config:\n  unit: 5\n  con|\n  step: 5\nscenario:\n  name: echo\n');
    assert.deepEqual(
      [...found].sort(),
      configKeys
        .map(({ name }) => name)
        .filter((name) => name !== 'unit' && name !== 'step')
        .sort(),
    );
  });

  it('begins with the keys people need first and ends with those of the old tool', () => {
    const found = labels('config:\n  |\nscenario:\n  name: echo\n');
    assert.deepEqual(found.slice(0, 5), [
      'target',
      'unit',
      'connections',
      'arrivingRate',
      'baseSending',
    ]);
    assert.equal(found.at(-1), 'debug');
    assert.ok(found.indexOf('webAppTarget') > found.indexOf('headers'));
  });

  it('proposes whole scenarios before the keys of the old tool in an empty file', () => {
    const found = labels('|');
    assert.deepEqual(found.slice(0, 3), ['config', 'scenario', 'scenarios']);
    assert.ok(found.indexOf('echo') < found.indexOf('mode'));
    assert.deepEqual(found.slice(-2), ['mode', 'kind']);
  });

  it('writes over the word that is typed', () => {
    const marked = 'config:\n  unit: 5\n  con|\n';
    assert.equal(taken(marked, 'connections'), 'config:\n  unit: 5\n  connections: \n');
    assert.equal(taken(crlf(marked), 'connections'), crlf('config:\n  unit: 5\n  connections: \n'));
  });

  it('keeps a colon that stands there', () => {
    assert.equal(taken('config:\n  con|: 5\n', 'connections'), 'config:\n  connections: 5\n');
  });

  it('opens a section on its next line', () => {
    assert.equal(taken('sc|', 'scenario'), 'scenario:\n  ');
    assert.equal(taken('sc|', 'scenarios'), 'scenarios:\n  - name: ');
  });

  it('proposes the parameters of the use case, required ones first', () => {
    const found = complete('scenario:\n  name: sendToGroup\n  parameters:\n    |\n');
    assert.deepEqual(
      found.map(({ label }) => label),
      [
        'groupCount',
        'messageSize',
        'sendingInterval',
        ...payloadKeys,
        'groupsPerConnection',
        'sendersPer',
        'targets',
      ],
    );
    assert.equal(found[0]!.detail, 'required');
  });

  it('takes the use case from below as well, and echo without one', () => {
    assert.ok(
      labels('scenario:\n  parameters:\n    |\n  name: streamingEcho').includes(
        'streamingItemCount',
      ),
    );
    assert.deepEqual(labels('scenario:\n  parameters:\n    |'), [
      'messageSize',
      'sendingInterval',
      ...payloadKeys,
    ]);
  });

  it('knows what a hub sends on its own', () => {
    assert.equal(taken('config:\n  push|', 'pushes'), 'config:\n  pushes:\n  - name: ');
    assert.deepEqual(labels('config:\n  pushes: [{ name: A, | }]'), ['perSecond', 'size', 'to']);
    assert.deepEqual(labels('config:\n  pushes:\n    - to: |').sort(), [
      ...['client', 'everyone', 'group'],
    ]);
  });

  it('knows the stages of a step, arrivals and what intervals are drawn from', () => {
    // The editor indents the lines that it inserts.
    assert.equal(taken('config:\n  stag|', 'stages'), 'config:\n  stages:\n  - to: ');
    assert.deepEqual(labels('config:\n  stages:\n    - |'), ['to', 'rate', 'over', 'hold']);
    assert.deepEqual(labels('config:\n  stages:\n    - to: 5\n      |'), ['over', 'hold']);
    assert.deepEqual(labels('config:\n  stages: [{ to: 5, | }]'), ['over', 'hold']);
    assert.deepEqual(labels('config:\n  arrivals: |').sort(), ['even', 'jitter', 'poisson']);
    assert.deepEqual(
      labels('scenario:\n  name: echo\n  parameters:\n    intervalDistribution: |').sort(),
      ['exponential', 'lognormal', 'uniform'],
    );
  });

  it('knows slo, upstream and the entries of a mix', () => {
    assert.ok(labels('slo:\n  |').includes('p99'));
    assert.deepEqual(labels('config:\n  upstream:\n    |'), ['port', 'publicUrl']);
    assert.deepEqual(labels('scenarios:\n  - name: echo\n    |'), ['senders', 'parameters']);
    assert.deepEqual(labels('scenarios:\n- name: echo\n- |'), ['name', 'senders', 'parameters']);
    assert.deepEqual(
      labels('scenarios:\n- name: broadcast\n- name: sendToClient\n  parameters:\n    |'),
      ['messageSize', 'sendingInterval', ...payloadKeys, 'targets'],
    );
  });

  it('works inside brackets', () => {
    const one = 'scenario: {name: echo, parameters: {messageSize: 2KB, |}}';
    assert.deepEqual(labels(one), ['sendingInterval', ...payloadKeys]);
    assert.equal(taken(one, 'sendingInterval').at(-3), ' ');
    assert.deepEqual(labels('scenario: {name: echo, |'), ['parameters']);
    assert.deepEqual(labels('scenario: {\n  name: echo,\n  par|\n}'), ['parameters']);
  });

  it('works in text that is no YAML yet', () => {
    const parameters = ['sendingInterval', ...payloadKeys];
    for (const marked of [
      'scenario:\n  name: echo\n  parameters:\n    messageSize: 2KB\n    send|',
      'scenario:\n  name: echo\n  parameters:\n    mess\n    send|\n    messageSize: 2KB',
      'scenario:\n  name: "echo"\n  parameters:\n    messageSize: "2KB\n    send|\nslo:\n',
      'scenario:\n  name: echo\n  parameters: {messageSize: 2KB\n    , |\nslo:\n  p99: 1s\n',
      'scenario:\n  name: echo\n  parameters:\n    messageSize: 2KB\n    "send|\n',
      '\uFEFFscenario:\n  name: echo\n  parameters:\n    messageSize: 2KB\n    |\n',
    ]) {
      assert.deepEqual(labels(marked), parameters, marked);
      assert.deepEqual(labels(crlf(marked)), parameters, marked);
    }
    assert.ok(labels('config:\n  con|\nscenario: [').includes('connections'));
    assert.deepEqual(labels('config:\n  unit: 5\n---\nconfig:\n  con|'), []);
  });

  it('stays silent where nothing is known', () => {
    for (const marked of [
      'config:\n  # |',
      'config:\n  unit: 5 # con|',
      'config:\n  headers:\n    |',
      'other:\n  |',
      'config:\n  connections|: 5 5',
    ].slice(0, 4)) {
      assert.deepEqual(labels(marked), [], marked);
    }
  });
});

describe('completionsAt: values', () => {
  it('proposes choices, the default marked', () => {
    const found = complete('config:\n  transport: |\n');
    assert.deepEqual(
      found.map(({ label, detail }) => [label, detail]),
      [
        ['Websockets', 'default'],
        ['ServerSentEvents', undefined],
        ['LongPolling', undefined],
      ],
    );
    assert.equal(
      taken('config:\n  transport: Long|', 'LongPolling'),
      'config:\n  transport: LongPolling',
    );
  });

  it('proposes use cases, flags and the embedded hub', () => {
    assert.deepEqual(
      labels('scenario:\n  name: se|'),
      useCases.map(({ name }) => name),
    );
    assert.deepEqual(labels('config:\n  debug: |'), ['true', 'false']);
    assert.equal(labels('config:\n  target: |')[0], 'local');
    assert.deepEqual(
      labels('scenario: {name: |}'),
      useCases.map(({ name }) => name),
    );
    assert.deepEqual(
      labels('scenarios:\n  - name: |'),
      useCases.map(({ name }) => name),
    );
  });

  it('proposes units after a number', () => {
    assert.deepEqual(labels('config:\n  singleStepDuration: 30|'), ['30ms', '30s', '30m', '30h']);
    assert.deepEqual(labels('scenario:\n  parameters:\n    messageSize: 2|'), ['2B', '2KB', '2MB']);
    assert.deepEqual(labels('slo:\n  dropped: 1|'), ['1%']);
    assert.deepEqual(labels('scenarios:\n  - name: echo\n    senders: 30|'), ['30%']);
    assert.deepEqual(labels('config:\n  connections: 5|'), []);
    assert.equal(taken('config:\n  drain: 1.5|', '1.5s'), 'config:\n  drain: 1.5s');
  });

  it('proposes the default of a number, and sizes for the unit', () => {
    assert.deepEqual(labels('config:\n  singleStepDuration: |'), ['4m']);
    assert.deepEqual(labels('config:\n  unit: |').slice(0, 3), ['1', '2', '3']);
  });

  it('proposes references by name', () => {
    assert.deepEqual(labels('config:\n  connectionString: |'), [
      '${secret:azure}',
      '${env:API_KEY}',
      '${env:HUB_URL}',
    ]);
    assert.deepEqual(labels('config:\n  target: |'), [
      'local',
      hub,
      '${secret:azure}',
      '${env:HUB_URL}',
    ]);
    const marked = 'config:\n  accessToken: Bearer ${|}\n';
    assert.equal(
      taken(marked, '${secret:azure}'),
      'config:\n  accessToken: Bearer ${secret:azure}\n',
    );
    assert.equal(
      taken('config:\n  target:\n    - ${env:HU|', '${env:HUB_URL}'),
      'config:\n  target:\n    - ${env:HUB_URL}',
    );
    assert.deepEqual(labels('config:\n  hub: ${|'), []);
    assert.equal(
      taken('config: {target: local, accessToken: "${|}"}', '${secret:azure}'),
      'config: {target: local, accessToken: "${secret:azure}"}',
    );
    assert.equal(
      taken('config: {accessToken: ${|}, unit: 5}', '${secret:azure}'),
      'config: {accessToken: ${secret:azure}, unit: 5}',
    );
  });
});

describe('completionsAt: whole scenarios', () => {
  it('writes the template of each use case', () => {
    const found = complete('# mine\n|').filter(({ kind }) => kind === 'scenario');
    for (const useCase of useCases) {
      const { insert, snippet } = found.find(({ label }) => label === useCase.name)!;
      assert.deepEqual([insert, snippet], [templateText(useCase), false]);
    }
  });

  it('offers the set-ups of the guides, which need the size they are named after', () => {
    const presets = complete('|').filter(({ label }) => / Unit \d+$/.test(label));
    assert.equal(presets.length, 21);
    for (const { label, insert, kind } of presets) {
      const { estimate, problems } = analyseScenario(insert);
      assert.deepEqual(
        problems.filter(({ severity }) => severity !== 'info'),
        [],
        label,
      );
      assert.equal(kind, 'scenario');
      assert.match(insert, new RegExp(`\\n {2}unit: ${/\d+$/.exec(label)![0]}\\n`));
      assert.notEqual(estimate?.planned, undefined, label);
    }
  });

  it('offers none where something stands', () => {
    assert.ok(complete('config:\n|').every(({ kind }) => kind === 'key'));
  });
});

describe('templateText', () => {
  for (const useCase of useCases) {
    it(`gives a scenario without problems for ${useCase.name}`, () => {
      const text = templateText(useCase);
      const { scenario } = parseScenario(text);
      assert.deepEqual(diagnosticsOf(analyseScenario(text)), []);
      assert.equal(scenario?.entries[0]?.name, useCase.name);
      assert.equal(notRunnable(scenario), undefined);
      assert.match(useCase.name, /^\w+$/);
      for (const { name, optional } of useCase.parameters) {
        const { starting } = useCase;
        const begins = starting === undefined ? optional !== true : starting[name] !== undefined;
        assert.equal(text.includes(`    ${name}: `), begins, name);
      }
    });
  }
});
