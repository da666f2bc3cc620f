import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { commandLine, type CommandLine } from '../commandLine';

describe('init', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());

  it('writes a scenario to standard output, an echo for one Unit by default', async () => {
    const { code, out, err } = await at.run(['init']);
    assert.deepEqual([code, err], [0, '']);
    const { scenario } = parseScenario(out);
    assert.deepEqual(
      [scenario?.entries[0]?.name, scenario?.unit, scenario?.connections],
      ['echo', 1, 1000],
    );
  });

  it('writes a file, and replaces one only when it is asked to', async () => {
    const flags = ['--use-case', 'sendToGroup', '--groups', 'big', '--unit', '10'];
    const first = await at.run(['init', 'rooms.yaml', ...flags]);
    assert.deepEqual([first.code, first.out, first.err], [0, '', 'wrote rooms.yaml\n']);
    const file = path.join(at.folder, 'rooms.yaml');
    const text = await readFile(file, 'utf8');
    assert.match(text, /\n {2}connections: 10000\n[^]*\n {4}groupCount: 10\n/);
    const second = await at.run(['init', 'rooms.yaml']);
    assert.equal(second.code, 2);
    assert.match(second.err, /^There is a file rooms\.yaml already\..*--force/);
    assert.equal(await readFile(file, 'utf8'), text);
    const forced = await at.run(['init', 'rooms.yaml', '--force']);
    assert.equal(forced.code, 0);
    assert.match(await readFile(file, 'utf8'), /\n {2}name: echo\n/);
  });

  it('makes files for Web PubSub', async () => {
    const { out } = await at.run(['init', '--service', 'webpubsub', '--unit', '200']);
    const { scenario } = parseScenario(out);
    assert.deepEqual([scenario?.service, scenario?.connections], ['webpubsub', 200_000]);
    assert.equal(scenario?.entries[0]?.name, 'sendToGroup');
  });

  it('says what is wrong', async () => {
    for (const [args, message] of [
      [['--unit', '11'], /There is no Unit 11\. Sizes are/],
      [['--unit', 'x'], /whole number/],
      [['--use-case', 'ecco'], /There is no use case "ecco"\. Did you mean echo\?/],
      [['--use-case', 'streamingEcho', '--service', 'webpubsub'], /does not exist on/],
      [['--use-case', 'replay'], /A replay needs a recording: `signalr-bench record`/],
      [['no/such/folder/a.yaml'], /a\.yaml cannot be written: there is no such folder\.$/m],
    ] as const) {
      const { code, out, err } = await at.run(['init', ...args]);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
      assert.match(err, message);
    }
  });
});
