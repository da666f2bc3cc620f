import assert from 'node:assert/strict';
import { parseDurationMs } from '../../../../src/base/units';
import { scenarioFromRecording } from '../../../../src/record/analyse/scenarioFromRecording';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { stepsOf } from '../../../../src/scenario/steps';
import { analysed, type Session, MadeRecording, threeWhoType } from './madeRecording';
import { scenarioEstimate } from '../../../../src/capacity/estimate';

const long = (text: string): string => `${text} ${'.'.repeat(60)}`;

/** Two people in one room: each writes several times, looks back, acknowledges and leaves. */
function chat(
  rooms: readonly string[] = ['lobby', 'lobby'],
  messages = 5,
  hearsItself = true,
): MadeRecording {
  const made = new MadeRecording();
  const clients = rooms.map((_, index) => index + 1);
  const names = ['ann', 'bob', 'eve', 'joe'];
  const roomOf = (client: number): string => rooms[client - 1]!;
  for (const client of clients)
    made
      .at(client)
      .open(client)
      .wait(10)
      .call(client, 'JoinRoom', [roomOf(client)]);
  let id = 0;
  for (let round = 0; round < messages; round++) {
    for (const client of clients) {
      const room = roomOf(client);
      const message = { author: names[client - 1]!, text: long(`no. ${id}`) };
      made.at(1000 + 2000 * round + 100 * client).call(client, 'SendMessage', [room, message]);
      const members = clients.filter(
        (other) => roomOf(other) === room && (hearsItself || other !== client),
      );
      made.heard(members, 'MessagePosted', [{ id: String(++id), ...message }]);
    }
  }
  for (const client of clients) {
    made.at(20_000 + 500 * client).call(client, 'GetHistory', [roomOf(client), 20], {
      result: [{ id: String(id + client), author: 'ann', text: 'hello' }],
    });
    made.wait(300).call(client, 'Acknowledge', [String(id + client)]);
    made
      .wait(1000)
      .call(client, 'LeaveRoom', [roomOf(client)])
      .wait(50)
      .close(client);
  }
  return made;
}

describe('a scenario of a recording', () => {
  it('finds the session of a chat', async () => {
    const { steps, file, found } = await analysed(chat());
    assert.deepEqual(steps, [
      { call: 'JoinRoom', arguments: ['{group}'], reply: 'completion', group: 'join' },
      { wait: '1.138s' },
      {
        ...{ repeat: 5, every: '2s' },
        steps: [
          {
            call: 'SendMessage',
            arguments: ['{group}', { author: '{identity.author}', text: '{text:66B}' }],
            ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group' },
            answered: true,
          },
        ],
      },
      { wait: '9.6s' },
      {
        ...{ call: 'GetHistory', arguments: ['{group}', 20], reply: 'completion' },
        keep: { id: '$[0].id' },
      },
      { wait: '299ms' },
      { call: 'Acknowledge', arguments: ['{id}'], reply: 'completion' },
      { wait: '999ms' },
      { call: 'LeaveRoom', arguments: ['{group}'], reply: 'completion', group: 'leave' },
    ]);
    assert.equal(file.config['connections'], 2);
    assert.deepEqual(file.config['identities'], [{ author: 'ann' }, { author: 'bob' }]);
    assert.equal(file.scenario!.parameters.groupCount, 1);
    // 18 calls with an answer each, and 20 callbacks.
    assert.equal(found.messages, 56);
    assert.deepEqual(found.kinds, [
      {
        ...{ clients: 2, sessions: 2, unfinished: 0 },
        calls: ['JoinRoom', 'SendMessage', 'GetHistory', 'Acknowledge', 'LeaveRoom'],
      },
    ]);
    assert.deepEqual(found.notRecognised, []);
  });

  it('finds rooms by who hears what', async () => {
    const { file, found } = await analysed(chat(['a1', 'b1', 'a1', 'b1']));
    assert.equal(file.scenario!.parameters.groupCount, 2);
    assert.deepEqual(found.callbacks, [
      {
        target: 'MessagePosted',
        ...{ count: 40, perCall: 2, perSecond: 40 / found.seconds },
        recognised: true,
        as: 'to the room, after SendMessage',
      },
    ]);
  });

  it('tells others in a room from everyone in it, in rooms of two as well', async () => {
    for (const what of ['lobby lobby', 'a1 b1 a1 b1', 'a1 a1 a1 b1']) {
      const { steps, found } = await analysed(chat(what.split(' '), 5, false));
      const [post] = (steps[2] as unknown as { readonly steps: Session['steps'] }).steps;
      assert.deepEqual(
        [post!['receivers'], (post!['arguments'] as unknown[])[0]],
        ['others', '{group}'],
        what,
      );
      assert.deepEqual(
        found.callbacks.map(({ recognised, as }) => [recognised, as]),
        [[true, 'to the others in the room, after SendMessage']],
        what,
      );
    }
  });

  it('takes what all others hear for a call to them, and what one hears for none', async () => {
    const made = new MadeRecording().arrive([1, 2, 3], 'Register', (client) => [
      `person ${client}`,
    ]);
    for (let round = 0; round < 4; round++)
      for (const client of [1, 2, 3]) {
        const text = long(`hello ${round} of ${client}`);
        const others = [1, 2, 3].filter((other) => other !== client);
        made.at(100 + 1000 * round + client).send(client, 'Shout', [text]);
        made.heard(others, 'Shouted', [text]);
        const note = long(`a note ${round} of ${client}`);
        made.at(500 + 1000 * round + client).send(client, 'Note', [`person ${others[0]}`, note]);
        made.heard([others[0]!], 'Noted', [note]);
      }
    const { steps, found } = await analysed(made);
    const written = JSON.stringify(steps);
    assert.ok(written.includes('"callback":"Shouted","receivers":"others"'), written);
    assert.ok(!written.includes('{group}') && !written.includes('"callback":"Noted"'), written);
    assert.deepEqual(steps.at(-1), { on: 'Noted', within: 0, perSession: 4, eventSize: 78 });
    assert.deepEqual(
      found.callbacks.map(({ target, recognised, as }) => [target, recognised, as]),
      [
        ['Shouted', true, 'to all others than the caller, after Shout'],
        [
          ...['Noted', false],
          'to one other client, after Note: 1.0 for each call, 3.4/s; only its number is counted: it is not known to whom',
        ],
      ],
    );
  });

  it('takes what everybody hears for a call to everyone where nobody joined', async () => {
    const made = new MadeRecording().arrive([1, 2, 3]);
    for (let round = 0; round < 4; round++)
      for (const client of [1, 2, 3]) {
        const text = long(`hello ${round} of ${client}`);
        made.at(100 + 1000 * round + client).send(client, 'Shout', [text]);
        made.heard([1, 2, 3], 'Shouted', [text]);
      }
    const { steps, file } = await analysed(made);
    assert.deepEqual(steps, [
      {
        ...{ call: 'Shout', arguments: ['{text:73B}'], reply: 'callback' },
        ...{ callback: 'Shouted', receivers: 'everyone' },
      },
    ]);
    assert.equal(file.scenario!.parameters.sessionInterval, '1s');
  });

  it('writes an entry for each kind of client, with those who only listen as connections', async () => {
    const made = chat();
    made.at(5).open(3);
    for (const client of [4, 5]) {
      made.at(6).open(client);
      for (let round = 0; round < 10; round++)
        made.at(1000 + 1500 * round + client).call(client, 'Poll', [7], { result: 3 });
    }
    // It says something, but nothing that is understood.
    made.at(7).open(6).raw(6, 'binary');
    const { file, found, yaml } = await analysed(made);
    assert.deepEqual(
      file.scenarios!.map(({ senders, parameters }) => [senders, parameters.steps.length]),
      [
        ['33.33%', 9],
        ['33.33%', 1],
      ],
    );
    assert.match(
      yaml,
      /connections: 6 # the clients that were seen, 1 only listened, 1 sent nothing that became a step; raise it/,
    );
    assert.equal(found.kinds.length, 2);
    for (const times of [1, 7, 80]) {
      const raised = yaml.replace('connections: 6', `connections: ${6 * times}`);
      const { scenario } = parseScenario(raised);
      assert.deepEqual(stepsOf(scenario!).at(-1)!.perEntry, [2 * times, 2 * times]);
    }
  });

  it('gives each kind its share of the connections, the last one the rest', async () => {
    const made = new MadeRecording();
    for (const [client, method] of ['A', 'A', 'A', 'B', 'B', 'C', 'C'].entries())
      made.at(client).open(client).call(client, method, []);
    const { file, yaml } = await analysed(made);
    assert.deepEqual(
      file.scenarios!.map(({ senders }) => senders),
      ['42.85%', '28.57%', undefined],
    );
    const raised = yaml.replace('connections: 7', 'connections: 700');
    const { scenario } = parseScenario(raised);
    assert.deepEqual(stepsOf(scenario!).at(-1)!.perEntry, [300, 200, 200]);
  });

  it('lets clients of two kinds be in one room, and gives rows that either kind can use', async () => {
    const made = chat();
    for (const client of [3, 4])
      for (let round = 0; round < 4; round++) {
        if (round === 0) made.at(20 + client).open(client);
        made.at(1050 + 4000 * round + client).call(client, 'GetHistory', ['lobby', 20], {
          result: [],
        });
        made.wait(40).call(client, 'Mark', [client === 3 ? 'red' : 'blue', round]);
      }
    const { file, found } = await analysed(made);
    const [talkers, readers] = file.scenarios!.map(({ parameters }) => parameters);
    for (const { groupCount, sharedGroups } of [talkers!, readers!])
      assert.deepEqual([groupCount, sharedGroups], [1, 'rooms']);
    assert.match(JSON.stringify(talkers), /"receivers":"group"/);
    assert.deepEqual(readers!.steps[0]!['arguments'], ['{group}', 20]);
    assert.deepEqual(found.notRecognised, []);
    const rows = file.config['identities'] as readonly Record<string, string>[];
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [
        ['ann', 'red'],
        ['bob', 'blue'],
        ['ann', 'red'],
        ['bob', 'blue'],
      ],
    );
  });

  it('warms up for a session, and measures whole ones', async () => {
    const { file } = await analysed(chat());
    const { sessionInterval } = file.scenario!.parameters;
    const ms = parseDurationMs(sessionInterval)!;
    assert.equal(parseDurationMs(String(file.config['warmup'])), Math.ceil(ms / 1000) * 1000);
    assert.equal(parseDurationMs(String(file.config['singleStepDuration'])), 2 * ms);
  });

  it('counts a client that leaves in the middle to the kind of those that stay', async () => {
    const made = chat();
    made.at(3).open(3).wait(10).call(3, 'JoinRoom', ['lobby']).wait(500).close(3);
    const { found } = await analysed(made);
    assert.deepEqual(
      found.kinds.map(({ clients, unfinished }) => [clients, unfinished]),
      [[3, 1]],
    );
  });

  it('goes round in a loop as often as was seen when the recording ends in it', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made.at(client).open(client).wait(5).call(client, 'Start', []);
      for (let round = 0; round < 300; round++)
        made.at(500 + 100 * round).call(client, 'Move', [1]);
    }
    const { steps } = await analysed(made);
    assert.deepEqual(steps.slice(2), [
      {
        ...{ repeat: 300, every: '100ms' },
        steps: [{ call: 'Move', arguments: [1], reply: 'completion' }],
      },
    ]);
  });

  it('chooses among calls that come in no order', async () => {
    const made = new MadeRecording();
    const order = 'ABBABAAABBABAABBBAABABBBABAABBAABABAAB';
    for (const client of [1, 2]) {
      made.at(client).open(client).wait(5).call(client, 'Start', []);
      const mine = client === 1 ? order : order.split('').reverse().join('');
      for (const [index, letter] of mine.split('').entries())
        made.at(100 + 250 * index + client).call(client, letter, [1]);
      made.wait(100).call(client, 'End', []);
    }
    const { steps, found } = await analysed(made);
    const loop = steps.find((step) => 'repeat' in step) as {
      repeat: number;
      every: string;
      steps: [{ choose: { weight: number; steps: { call: string }[] }[] }];
    };
    assert.equal(loop.repeat, order.length);
    assert.equal(loop.every, '250ms');
    assert.deepEqual(
      new Map(loop.steps[0].choose.map(({ weight, steps: [step] }) => [step!.call, weight])),
      new Map([
        ['A', 2 * order.replaceAll('B', '').length],
        ['B', 2 * order.replaceAll('A', '').length],
      ]),
    );
    assert.equal(found.kinds.length, 1);
  });

  it('writes a stream with its items', async () => {
    const made = new MadeRecording();
    const read = [{ price: 17 }, { price: 2 }, { price: 1234567890123 }];
    made.at(1).open(1).wait(5).stream(1, 'Counter', [3, 0], read);
    const { steps } = await analysed(made);
    // 12, 11 and 23 bytes as JSON.
    assert.deepEqual(steps, [{ stream: 'Counter', arguments: [3, 0], items: 3, itemSize: 15 }]);
  });

  it('waits for what the hub tells the caller alone, known by an id of the call', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2, 3]) {
      const id = `3f2504e0-4f89-41d3-9a0c-00000000000${client}`;
      made.at(10 * client).open(client);
      made.wait(1300).call(client, 'Subscribe', [id]).heard([client], 'State', [id, true]);
    }
    const { steps } = await analysed(made);
    assert.deepEqual(steps.slice(1), [{ on: 'State' }]);
  });

  for (const [when, ms, perSession, words] of [
    [
      'soon after it connected',
      500,
      0,
      /^once to each client, soon after it connected, [\d.]+\/s$/,
    ],
    ['later', 2500, 1, /^no call was found that caused it, [\d.]+\/s$/],
  ] as const)
    it(`only counts what comes to each client ${when}, with nothing of a call`, async () => {
      const made = new MadeRecording();
      for (const client of [1, 2, 3]) {
        made
          .at(10 * client)
          .open(client)
          .wait(ms)
          .call(client, 'Subscribe', [5]);
        made.heard([client], 'Welcome', [{ version: 3 }]);
      }
      const { steps, found } = await analysed(made);
      assert.deepEqual(steps, [
        { call: 'Subscribe', arguments: [5], reply: 'completion' },
        { on: 'Welcome', within: 0, perSession, eventSize: 15 },
      ]);
      assert.match(found.callbacks[0]!.as, words);
    });

  it('says what nobody caused, and what was not understood', async () => {
    const made = chat().at(300).raw(1, 'binary').raw(1, 'binary');
    for (const ms of [2600, 7400, 9700])
      made.at(ms).in(2, { type: 1, target: 'Tick', arguments: [1] });
    const { found, yaml } = await analysed(made);
    assert.deepEqual(
      found.callbacks
        .filter(({ recognised }) => !recognised)
        .map(({ target, count, as }) => [target, count, as]),
      [['Tick', 3, 'no call was found that caused it, 0.1/s']],
    );
    assert.deepEqual(found.notRecognised, [
      { what: 'message from clients, not understood: binary', count: 2 },
    ]);
    assert.match(
      yaml,
      /# Not recognised: 3 Tick \(no call was found that caused it, 0\.1\/s\); 2 × message /,
    );
  });

  it('leaves out calls to which clients stream, since a hub refuses them without their streams, and says so', async () => {
    const made = chat();
    for (const client of [1, 2]) {
      const id = `up${client}`;
      made.at(500).out(client, {
        ...{ type: 1, invocationId: id, target: 'Up\nload', arguments: [] },
        streamIds: ['1', '2'],
      });
      made.out(client, { type: 2, invocationId: '1', item: 'abc' });
      made.out(client, { type: 2, invocationId: '2', item: 'def' });
      for (const stream of ['1', '2']) made.out(client, { type: 3, invocationId: stream });
      made.in(client, { type: 3, invocationId: id, result: 6 });
    }
    const { found, yaml } = await analysed(made);
    assert.deepEqual(found.notRecognised, [
      { what: 'call of Up\nload, to which the client streams', count: 2 },
      { what: 'item of a stream of a client', count: 4 },
    ]);
    const { yaml: without } = await analysed(chat());
    const steps = (text: string): string => text.slice(text.indexOf('scenario:'));
    assert.equal(steps(yaml), steps(without));
    assert.match(
      yaml,
      /# Not recognised: [^]*2 × call of Up.?load, to which the client\n?#? *streams/,
    );
  });

  for (const [what, sizes, written] of [
    ['few, as they were', [60, 60, 300, 60, 2000], '{text:60B 3, 300B 1, 2000B 1}'],
    ['alike, as one', [100, 110, 120, 125], '{text:114B}'],
    [
      'many, as eight with the same mean',
      Array.from({ length: 80 }, (_, at) => 100 + 10 * at),
      `{text:${Array.from({ length: 8 }, (_, part) => `${145 + 100 * part}B 10`).join(', ')}}`,
    ],
    ['shorter than what a callback is recognised by', [10, 20, 300, 10], '{text:54B 3, 300B 1}'],
  ] as const)
    it(`has sizes of texts as they were seen: ${what}`, async () => {
      const made = new MadeRecording().open(1).open(2);
      for (const [at, size] of sizes.entries()) {
        const text = `${at} ${'x '.repeat(size)}`.slice(0, size);
        made.wait(100).call(1, 'Post', [text]).heard([1, 2], 'Posted', [text]);
      }
      const { steps, yaml } = await analysed(made);
      assert.deepEqual(steps[0]!['arguments'], [written]);
      assert.equal(yaml.includes('at least 54 B here'), what.startsWith('shorter'), yaml);
    });

  it('has no more sizes in a call than it may have', async () => {
    const made = new MadeRecording().open(1);
    for (let at = 0; at < 80; at++)
      made.wait(100).call(
        1,
        'Post',
        [1, 2, 3].map((number) => `${number} ${'x '.repeat(100 + 10 * at)}`),
      );
    const { steps } = await analysed(made);
    const texts = steps[0]!['arguments'] as string[];
    assert.deepEqual(
      texts.map((text) => text.split(',').length),
      [8, 8, 1],
    );
  });

  it('keeps numbers of clients, running numbers and times', async () => {
    const made = new MadeRecording();
    const startMs = Date.parse(made.recording.header.startedAt);
    for (const client of [1, 2, 3]) {
      made.at(client).open(client);
      for (let round = 0; round < 6; round++) {
        const ms = 100 + 500 * round + client;
        made.at(ms).call(client, 'Report', [`user-${client}`, round, startMs + ms, true]);
      }
    }
    const { steps } = await analysed(made);
    assert.deepEqual(steps[0]!['arguments'], ['user-{senderIndex}', '{sequence}', '{time}', true]);
  });

  it('escapes braces and what looks like a reference', async () => {
    const made = new MadeRecording();
    made.at(1).open(1).wait(5).call(1, 'Set', ['{group} of ${env:HOME}', '{sender}']);
    const { steps } = await analysed(made);
    assert.deepEqual(steps[0]!['arguments'], ['{text:22B}', '{{sender}']);
  });

  it('says what to do with one client alone, and with a call that fails now and then', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made.at(client).open(client).wait(5);
      made.call(client, 'Set', [1], client === 1 ? { error: 'refused' } : {});
      made.wait(50).call(client, 'Get', []);
    }
    const { yaml, steps } = await analysed(made);
    assert.match(yaml, /# 1 of 2 calls were answered with an error; a session .* breaks off/);
    assert.deepEqual(steps, [
      { call: 'Set', arguments: [1], reply: 'completion' },
      { wait: '49ms' },
      { call: 'Get', reply: 'completion' },
    ]);
  });

  it('never writes what would be read as a reference or a placeholder', async () => {
    const made = new MadeRecording().arrive([1, 2], 'Set', (client) => [
      `\${env:HOME} ${client}`,
      `{time}${client}`,
    ]);
    const { yaml, file, steps } = await analysed(made);
    assert.ok(!yaml.includes('HOME'));
    assert.equal(file.config['identities'], undefined);
    assert.deepEqual(steps[0]!['arguments'], ['{text:13B}', '{text:7B}']);
  });

  it('has as many rounds as a scenario may have, at the pace that was seen', async () => {
    const made = new MadeRecording();
    made.at(1).open(1).wait(5).send(1, 'Start', []);
    for (let round = 0; round < 12_000; round++) made.at(1000 + 10 * round).send(1, 'Move', [1]);
    const { steps, file } = await analysed(made);
    assert.deepEqual(
      steps.map((step) => [step['repeat'], step['every']]),
      [
        [undefined, undefined],
        [undefined, undefined],
        [10_000, '10ms'],
      ],
    );
    assert.equal(file.scenario!.parameters.sessionInterval, '101.044s');
  });

  it('takes what a client has sent before for its own, though an answer has it too', async () => {
    const made = new MadeRecording();
    for (const [at, author] of ['author-1', 'author-2'].entries()) {
      const client = at + 1;
      made.at(client).open(client);
      const say = (ms: number): unknown => made.at(ms + client).call(client, 'Say', [{ author }]);
      for (let round = 1; round <= 5; round++) say(1000 * round);
      const latest = { id: `message-${client}`, author };
      made.wait(10).call(client, 'GetHistory', [5], { result: [latest] });
      made.wait(10).call(client, 'Acknowledge', [latest.id]);
      for (let round = 8; round <= 12; round++) say(1000 * round);
    }
    const { yaml } = await analysed(made);
    assert.match(yaml, /keep: \{ id: '\$\[0\]\.id' \}/);
    assert.doesNotMatch(yaml, /'\{author\}'/);
  });

  it('keeps the rate of a client that calls the same again and again', async () => {
    const intervals = [20, 0.02].map(async (everyMs) => {
      const made = new MadeRecording().open(1);
      for (let call = 0; call < 10_000; call++) made.at(100 + everyMs * call).send(1, 'Ping', []);
      const { file, found } = await analysed(made);
      const { sessionInterval } = file.scenario!.parameters;
      return [sessionInterval, found.notRecognised.map(({ what, count }) => `${count} ${what}`)];
    });
    assert.deepEqual(await Promise.all(intervals), [
      ['20ms', []],
      ['1ms', ['10000 session that began less than 1 ms after the one before']],
    ]);
  });

  it('gives up the order of what is too deep to be read', async () => {
    const made = new MadeRecording().at(1).open(1).wait(5);
    const deep = 'AABAABCAABAABCDAABAABCAABAABCDE'.repeat(2);
    for (const letter of deep.split('')) made.call(1, letter, []).wait(20);
    const { steps } = await analysed(made);
    assert.match(JSON.stringify(steps), /"choose"/);
  });

  it('makes nothing of an empty recording, or one without a call', async () => {
    for (const made of [new MadeRecording(), new MadeRecording().at(1).open(1)]) {
      const { yaml, found } = await scenarioFromRecording(made.recording);
      assert.equal(yaml, undefined);
      assert.deepEqual(found.kinds, []);
    }
  });
});

describe('callbacks of a recording that are only counted', () => {
  it('are in the estimate of its scenario as often, and as large, as they came', async () => {
    const { yaml } = await analysed(threeWhoType());
    const { scenario, problems } = parseScenario(yaml);
    assert.deepEqual(
      problems.filter(({ severity }) => severity === 'error'),
      [],
    );
    const found = scenarioEstimate(scenario!);
    assert.ok('estimate' in found);
    const { loads, notes, formula } = found.estimate;
    // 60 in all, to three clients with one session each; nothing of them goes in.
    const intervalMs = Number(scenario!.entries[0]!.parameters['sessionInterval']);
    const callbacks = loads.at(-1)!;
    assert.equal(callbacks.in_messages_per_s, 0);
    assert.equal(callbacks.out_messages_per_s.toFixed(3), (60_000 / intervalMs).toFixed(3));
    assert.match(formula.at(-1)!, /^callbacks: .* \(counted for 10 B\)/);
    assert.doesNotMatch(notes.join(' '), /Not in this estimate/);
  });
});
