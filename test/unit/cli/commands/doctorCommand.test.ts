import assert from 'node:assert/strict';
import type { CommandDeps } from '../../../../src/cli/program';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { formatTarget } from '../../../../src/scenario/target/targetKinds';
import { hubMethods } from '../../../../src/usecases/registry';
import { commandLine, type CommandLine } from '../commandLine';

describe('doctor', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());

  it('says what the machine can do', async () => {
    const { code, out } = await at.run(['doctor']);
    assert.equal(code, 0);
    assert.match(out, /^Node {15}v20\.0\.0 on linux x64\ncores {14}4\n/);
    assert.match(out, /file descriptors {3}1,024 a process, /);
    assert.match(out, /about 120,000 msg\/s on one core, 6\.5 µs of CPU per message/);
    assert.match(out, /local ports +\S.* for each pair of a local address and a target\n/);
  });

  it('looks at a hub and prints the code for what it lacks', async () => {
    const probe = (present: boolean, dialect?: 'measure') => ({
      deps: {
        probeHub: () =>
          Promise.resolve({
            reachable: true as const,
            connectMs: 3,
            ...(dialect && { dialect }),
            methods: [
              { name: 'Echo', present: true },
              { name: 'JoinGroup', present },
            ],
          }),
      },
    });
    const args = ['doctor', '--target', 'http://localhost:5050/signalrbench'];
    const lacking = await at.run(args, probe(false));
    assert.equal(lacking.code, 0);
    assert.match(lacking.out, /✗ JoinGroup/);
    assert.match(lacking.out, /The hub lacks JoinGroup\./);
    assert.match(lacking.out, /public sealed class BenchHub : Hub/);
    assert.match(lacking.out, /"RecordLatency"/);
    const newer = await at.run(args, probe(false, 'measure'));
    assert.match(newer.out, /dialect measure/);
    assert.match(newer.out, /GroupBroadcast\(string \w+, long ticks, string payload\)/);
    const whole = await at.run(args, probe(true));
    assert.match(whole.out, /The hub has all bench methods\./);
    assert.doesNotMatch(whole.out, /BenchHub/);
  });

  it('says what a run can do with the hub as it is, and what it would take the hub for', async () => {
    const args = ['doctor', '--target', 'http://localhost:5050/signalrbench'];
    const outOf = async (names: readonly string[], dialect?: 'measure'): Promise<string> => {
      const methods = hubMethods().map(({ name, measureName }) => {
        const own = dialect === 'measure' ? (measureName ?? name) : name;
        return { name: own, present: names.includes(own) };
      });
      const probe = {
        reachable: true as const,
        connectMs: 3,
        methods,
        ...(dialect && { dialect }),
      };
      const { out } = await at.run(args, { deps: { probeHub: () => Promise.resolve(probe) } });
      return out.replace(/\s+/g, ' ');
    };
    const echo = await outOf(['Echo']);
    assert.match(echo, /It can run echo, connectOnly; and invoke and session, which call methods/);
    assert.match(echo, /does not send OnConnected .* write `dialect: recordLatency`/);
    const none = await outOf([]);
    assert.match(none, /It can run connectOnly; and invoke/);
    assert.doesNotMatch(none, /does not send OnConnected/);
    const newer = await outOf(['Echo', 'GroupBroadcast', 'JoinGroup', 'LeaveGroup'], 'measure');
    assert.match(newer, /It can run echo, sendToGroup, frequentJoinLeaveGroup, connectOnly;/);
    assert.doesNotMatch(newer, /does not send OnConnected/);
  });

  it('exits with 3 when the hub cannot be reached', async () => {
    const { code, out, calls } = await at.run(['doctor', '--target', 'http://x/y', '--json'], {
      deps: {
        probeHub: () =>
          Promise.resolve({ reachable: false, errorClass: 'refused', message: 'nobody there' }),
      },
    });
    assert.equal(code, 3);
    const report = JSON.parse(out) as { target: object; cores: number };
    assert.equal(report.cores, 4);
    assert.deepEqual(report.target, {
      url: 'http://localhost:5050/signalrbench',
      reachable: false,
      errorClass: 'refused',
      message: 'nobody there',
      advice: 'Start the server, or correct the port in the target.',
    });
    assert.deepEqual(calls.overrides, [{ path: 'config.target', value: 'http://x/y' }]);
    assert.equal(calls.targetsOpen, 0);
  });

  it('reaches the hub as a scenario with these keys does', async () => {
    const probeHub: CommandDeps['probeHub'] = () =>
      Promise.resolve({ reachable: false, errorClass: 'refused', message: 'nobody there' });
    const set = ['--set', 'config.insecureTls=true', '--set', 'config.accessToken=${env:TOKEN}'];
    const { calls } = await at.run(['doctor', '--target', 'https://x/y', ...set], {
      deps: { probeHub },
    });
    assert.deepEqual(calls.overrides, [
      { path: 'config.insecureTls', value: 'true' },
      { path: 'config.accessToken', value: '${env:TOKEN}' },
      { path: 'config.target', value: 'https://x/y' },
    ]);
    const alone = await at.run(['doctor', ...set]);
    assert.equal(alone.code, 2);
    assert.match(alone.err, /--set belongs to --target/);
    const placed = await at.run(['doctor', '--on', 'kubernetes', ...set]);
    assert.match(placed.err, /--set has no effect with --on kubernetes/);
    const misspelt = ['doctor', '--target', 'https://x/y', '--set', 'config.caFiel=x'];
    const wrong = await at.run(misspelt, { deps: { parseScenario } });
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /^--set config\.caFiel: .*Did you mean config\.caFile\?/);
  });

  it('asks before it follows a redirect to another machine', async () => {
    const args = ['doctor', '--target', 'http://localhost:5050/signalrbench'];
    const asked: (readonly string[] | undefined)[] = [];
    const probeHub: CommandDeps['probeHub'] = ({ allowedHosts }) => {
      asked.push(allowedHosts);
      const message = 'it redirects';
      return Promise.resolve(
        allowedHosts !== undefined
          ? { reachable: false, errorClass: 'negotiate', message, redirectsTo: 'a.example' }
          : { reachable: true, connectMs: 3, methods: [] },
      );
    };
    const unasked = await at.run(args, { deps: { probeHub } });
    assert.equal(unasked.code, 2);
    assert.match(unasked.err, /redirects to a\.example, which is not on this machine\. Add --yes/);
    const no = await at.run(args, { deps: { probeHub }, answer: 'n' });
    assert.equal(no.code, 2);
    assert.deepEqual(asked, [[], []]);
    const yes = await at.run(args, { deps: { probeHub }, answer: 'y' });
    assert.equal(yes.code, 0);
    assert.equal((await at.run([...args, '--yes'], { deps: { probeHub } })).code, 0);
    assert.deepEqual(asked, [[], [], [], undefined, undefined]);
  });

  it('lists what is missing where there is no hub', async () => {
    const args = ['doctor', '--target', 'http://localhost:5050/nothere'];
    const deps: Partial<CommandDeps> = {
      probeHub: () =>
        Promise.resolve({ reachable: false, errorClass: 'notFound', message: 'answered 404' }),
    };
    const { code, out } = await at.run(args, { deps });
    assert.equal(code, 3);
    assert.match(out, /There is no hub at this path\. A benchmark needs Echo, Broadcast,\s/);
    assert.match(out, /public sealed class BenchHub : Hub/);
    const json = JSON.parse((await at.run([...args, '--json'], { deps })).out) as {
      target: { lacks: string[] };
    };
    assert.equal(json.target.lacks.length, hubMethods().length);
    const failure = { reachable: false, errorClass: 'negotiate', message: 'no hub' } as const;
    const older = { probeHub: () => Promise.resolve({ ...failure, classic: true } as const) };
    const { out: classic } = await at.run(args, { deps: older });
    assert.match(classic, /This adds a hub with all of them to a server of \.NET Framework:/);
    assert.match(classic, /app\.MapSignalR\(/);
    assert.doesNotMatch(classic, /StreamingEcho/);
  });

  it('leaves open what a hub does not say', async () => {
    for (const detail of [undefined, 'not certain']) {
      const methods = [{ name: 'Echo', present: true, ...(detail && { detail }) }];
      const probe = { reachable: true, classic: true, connectMs: 3, methods } as const;
      const { out } = await at.run(['doctor', '--target', 'http://localhost:5050/chat'], {
        deps: { probeHub: () => Promise.resolve(probe) },
      });
      assert.equal(out.includes('The hub has all bench methods.'), detail === undefined);
      assert.equal(out.includes('Not certain whether the hub has them'), detail !== undefined);
      assert.equal(out.includes('It can run '), detail === undefined);
    }
  });

  it('asks a service whether it accepts the key', async () => {
    const url = 'https://bench.service.signalr.net';
    const args = ['doctor', '--target', '${env:AZURE_SIGNALR}'];
    const asked: string[] = [];
    const takes = await at.run(args, {
      deps: {
        parseScenario,
        probeTargetOf: ({ target }) => {
          asked.push(formatTarget(target));
          return Promise.resolve({ url, reachable: true, signedIn: false, connectMs: 30 });
        },
      },
    });
    assert.equal(takes.code, 0);
    assert.match(takes.out, /✓ https:\/\/bench\S+: answers within 30\.0 ms and accepts the key\n/);
    assert.deepEqual(asked, ['${env:AZURE_SIGNALR}']);
    const borrows = await at.run(args, {
      deps: {
        probeTargetOf: () =>
          Promise.resolve({
            ...{ url, reachable: true, signedIn: true, connectMs: 30 },
            missingRestRole: 'SignalR Service Owner',
          }),
      },
    });
    assert.equal(borrows.code, 0);
    assert.match(
      borrows.out,
      /accepts the\s+sign-in\n\s+REST is not allowed to this identity;[^]*SignalR\s+Service\s+Owner\.\n/,
    );
    const refuses = await at.run(args, {
      deps: {
        probeTargetOf: () =>
          Promise.resolve({
            ...{ url, reachable: false, errorClass: 'unauthorized' },
            message: 'it refuses the access key',
          }),
      },
    });
    assert.equal(refuses.code, 3);
    assert.match(refuses.out, /✗ https:.*it refuses the access\s+key\s+\(unauthorized\)/);
  });

  it('refuses a target that is none', async () => {
    const { code, err } = await at.run(['doctor', '--target', 'nonsense'], {
      deps: {
        parseScenario: () => ({
          problems: [
            { code: 'hub-url', severity: 'error', message: 'is not a URL', offset: 0, length: 4 },
          ],
        }),
      },
    });
    assert.deepEqual([code, err], [2, 'is not a URL\n']);
  });
});
