import assert from 'node:assert/strict';
import { analysed, MadeRecording } from './madeRecording';

const lines = (bytes: number, at: number): string => `${at} ${'.'.repeat(bytes)}`;

describe('a scenario of what other applications do', () => {
  /** Texts of these sizes, and behind them one that comes back. */
  const posts = (sizes: readonly number[]): MadeRecording => {
    const made = new MadeRecording().arrive([1, 2], 'Join', () => ['lobby']);
    for (const [at, size] of sizes.entries())
      for (const client of [1, 2]) {
        const body = lines(80, 10 * at + client);
        made
          .at(2000 + 1000 * at + 100 * client)
          .call(client, 'Post', ['lobby', lines(size, at), body])
          .heard([1, 2], 'Posted', [client, body]);
      }
    return made;
  };

  it('lets short texts stand before the one that comes back', async () => {
    const { steps } = await analysed(posts([10, 20, 30, 30, 30, 30]));
    const { steps: inner } = steps.find((step) => 'repeat' in step) as {
      steps: [{ arguments: unknown; callback: string }];
    };
    assert.equal(inner[0].callback, 'Posted');
    assert.deepEqual(inner[0].arguments, ['{group}', '{text:12B 2, 22B 2, 32B 8}', '{text:83B}']);
  });

  it('has a text of the mean size for longer ones before it', async () => {
    const { steps, yaml } = await analysed(posts([40, 60, 100, 100]));
    const { steps: inner } = steps.find((step) => 'repeat' in step) as {
      steps: [{ arguments: unknown }];
    };
    assert.deepEqual(inner[0].arguments, ['{group}', 'x'.repeat(77), '{text:83B}']);
    assert.match(yaml, /# argument 2: 42 B to 102 B, median 102 B; a text of the mean size stands/);
  });

  /** Two people who load a page again and again: each time they join, post twice and go. */
  const reloads = (): MadeRecording => {
    const made = new MadeRecording();
    for (let visit = 0; visit < 6; visit++)
      for (const person of [1, 2]) {
        const client = 2 * visit + person;
        made.at(3000 * visit + 100 * person).open(client);
        made.wait(5).call(client, 'Join', ['lobby']);
        for (const at of [500, 1500]) {
          const text = lines(80, 1000 * client + at);
          made
            .at(3000 * visit + 100 * person + at)
            .call(client, 'Post', ['lobby', text])
            .heard([2 * visit + 1, 2 * visit + 2], 'Posted', [text]);
        }
        made.at(3000 * visit + 100 * person + 2500).close(client);
      }
    return made;
  };

  it('has as many connections as clients were there at a time, and as many calls as there were', async () => {
    const { file, found } = await analysed(reloads());
    const { sessionInterval, groupCount } = file.scenario!.parameters;
    assert.deepEqual([found.clients, found.clientsAtOnce], [12, 2]);
    assert.deepEqual([file.config['connections'], groupCount], [2, 1]);
    // 12 visits in 17.6 s.
    assert.equal(sessionInterval, '2.933s');
  });

  it('gives kinds of clients that come again their part of the connections, and their rates', async () => {
    const made = reloads();
    // One of another kind stays, and calls each second.
    made.at(50).open(99);
    for (let ms = 1000; ms < 17_500; ms += 1000) made.at(ms).call(99, 'Look', [1]);
    const { file } = await analysed(made.at(17_600).close(99));
    assert.equal(file.config['connections'], 3);
    assert.deepEqual(
      file.scenarios!.map(({ senders, parameters }) => [senders, parameters.sessionInterval]),
      [
        ['66.66%', '2.942s'],
        [undefined, '1s'],
      ],
    );
  });

  it('leaves out a call that failed each time, and keeps the time of it', async () => {
    const made = new MadeRecording();
    made.at(1).open(1).wait(5).call(1, 'Begin', []).wait(100);
    made.call(1, 'Set', [1], { error: 'refused' }).wait(200).call(1, 'Get', []);
    const { found, steps } = await analysed(made);
    assert.deepEqual(steps, [
      { call: 'Begin', reply: 'completion' },
      { wait: '299ms' },
      { call: 'Get', reply: 'completion' },
    ]);
    assert.deepEqual(found.notRecognised, [
      { what: 'call of Set, answered with an error', count: 1 },
    ]);
  });

  /** Each subscribes to quotes, an item each 200 ms, and searches meanwhile. */
  const dashboards = (searches: number): MadeRecording => {
    const made = new MadeRecording();
    for (const client of [1, 2, 3, 4]) {
      made.at(10 * client).open(client);
      made.wait(5).out(client, { type: 4, invocationId: 'q', target: 'Quotes', arguments: ['A'] });
      for (let item = 0; item < 40; item++)
        made.at(10 * client + 205 + 200 * item).in(client, { type: 2, invocationId: 'q', item });
      for (let search = 0; search < searches; search++)
        made.at(10 * client + 500 + 1000 * search).call(client, 'Search', ['text']);
      made.at(10 * client + 8100).out(client, { type: 5, invocationId: 'q' });
      made.wait(1).in(client, { type: 3, invocationId: 'q' }).wait(4).close(client);
    }
    return made;
  };

  it('gives streams that went on beside other calls connections of their own', async () => {
    const { file, yaml } = await analysed(dashboards(7));
    assert.equal(file.config['connections'], 8);
    const [searching, streaming] = file.scenarios!;
    assert.deepEqual(searching!.parameters.steps, [
      { call: 'Search', arguments: ['text'], reply: 'completion' },
    ]);
    assert.equal(searching!.parameters.sessionInterval, '1s');
    assert.deepEqual(streaming!.parameters.steps, [
      { stream: 'Quotes', arguments: ['A'], items: 40, itemSize: 2, every: '200ms', cancel: true },
    ]);
    assert.equal(streaming!.parameters.sessionInterval, '8.146s');
    assert.equal(file.config['drain'], '13s');
    assert.match(yaml, /# 4 streams of 4 clients, while other calls went on: here they have/);
  });

  /** Each watches something until it goes, and calls meanwhile. */
  const watchers = (items: number): MadeRecording => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made.at(10 * client).open(client);
      made.wait(5).out(client, { type: 4, invocationId: 'w', target: 'Watch', arguments: [] });
      for (let item = 0; item < items; item++)
        made.at(10 * client + 100 + 100 * item).in(client, { type: 2, invocationId: 'w', item });
      for (let call = 0; call < 5; call++)
        made.at(10 * client + 500 + 1000 * call).call(client, 'Ok', []);
      made.at(10 * client + 6000).close(client);
    }
    return made;
  };
  for (const [what, items, expected] of [
    [
      'that its client left open',
      60,
      { stream: 'Watch', items: 60, itemSize: 2, every: '100ms', cancel: true },
    ],
    [
      'that was quiet after its first item',
      1,
      { stream: 'Watch', items: 1, itemSize: 1, cancel: true },
    ],
    ['that brought nothing', 0, undefined],
  ] as const)
    it(`does not wait for the end of a stream ${what}`, async () => {
      const { file, found } = await analysed(watchers(items));
      const entries = file.scenarios ?? [file.scenario!];
      assert.deepEqual(entries[0]!.parameters.steps, [{ call: 'Ok', reply: 'completion' }]);
      assert.deepEqual(entries[1]?.parameters.steps, expected && [expected]);
      if (expected === undefined)
        assert.deepEqual(found.notRecognised, [
          { what: 'call of Watch, a stream that brought no items', count: 2 },
        ]);
    });

  it('expects no callback of a call that a hub makes again and again', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made
        .at(client)
        .open(client)
        .wait(1500)
        .call(client, 'Join', [`the-room-of-client-${client}`]);
      for (let second = 1; second <= 60; second++)
        made
          .at(1500 + 1000 * second + client)
          .heard([client], 'Update', [`the-room-of-client-${client}`, second % 2 === 0]);
    }
    const { steps, found } = await analysed(made);
    assert.deepEqual(steps.at(0), {
      ...{ call: 'Join', arguments: ['the-room-of-client-{senderIndex}'], reply: 'completion' },
    });
    assert.equal(found.callbacks[0]!.recognised, false);
  });

  it('says of clients whose calls all failed that they sent something', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) made.at(client).open(client).wait(2000);
    for (let call = 0; call < 5; call++)
      made
        .at(2000 + 500 * call)
        .call(1, 'Bad', [], { error: 'no' })
        .call(2, 'Good', []);
    const { yaml } = await analysed(made);
    assert.match(yaml, /connections: 2 # .*, 1 sent nothing that became a step; raise it/);
  });

  it('counts clients that went at the moment they came one after the other', async () => {
    const made = new MadeRecording();
    for (let client = 1; client <= 50; client++)
      made
        .at(10 * client)
        .open(client)
        .close(client);
    made.at(5).open(99);
    for (let call = 0; call < 5; call++) made.at(1000 + 500 * call).call(99, 'Good', []);
    const { file } = await analysed(made);
    assert.equal(file.config['connections'], 2);
  });

  it('is made of a hundred thousand streams too', async () => {
    const made = new MadeRecording();
    made.at(1).open(1);
    for (let at = 0; at < 130_000; at++) made.at(10 + at).stream(1, 'Numbers', [], [1]);
    const { found } = await analysed(made);
    assert.equal(found.calls[0]!.count, 130_000);
  });
});
