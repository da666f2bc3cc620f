import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pod } from 'kubernetes-types/core/v1';
import type { Result } from '../../src/results/result';
import { onlyStep, scenarioText } from '../load/loadRun';
import { livePercentiles, widgetsOf, type Widgets } from '../ui/widgets';
import { startWorkbench, type Workbench } from '../ui/workbench';
import { killProcessOf, RealCluster } from './realCluster';

const file = 'team.signalr.yaml';
/** Who is silent for half a minute is lost. */
const lostWithinMs = 120_000;
const lookEveryMs = 200;

describe('a run in a real cluster, from the editor', () => {
  let cluster: RealCluster;
  let workbench: Workbench;
  let widgets: Widgets;
  let failed = false;
  /** Load on the hub of the tests is agreed to once. */
  let isAgreed = false;
  const load = 'team';

  before(async () => {
    cluster = await RealCluster.start();
    await cluster.namespace(load);
    workbench = await startWorkbench(cluster.forEditor);
    widgets = widgetsOf(workbench);
    const config = {
      ...{ workers: 1, agents: 3, baseSending: 9, singleStepDuration: '20s', warmup: '200ms' },
    };
    const text = scenarioText({ target: cluster.target, useCase: 'broadcast', config });
    writeFileSync(path.join(workbench.workspace, file), text);
  });
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    failed = true;
    await workbench.screenshot('cluster-failed');
  });
  after(async () => {
    await (workbench as Workbench | undefined)?.close(failed);
    await (cluster as RealCluster | undefined)?.dispose();
  });

  const results = (): string[] => {
    const folder = path.join(workbench.workspace, '.signalr-bench');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.map((name) => path.join(folder, name));
  };
  /** Settles with the one that is stored beside those there were. */
  const resultBeside = async (before: readonly string[]): Promise<Result> => {
    for (;;) {
      const stored = results()
        .filter((folder) => !before.includes(folder))
        .map((folder) => path.join(folder, 'result.json'))
        .find((each) => existsSync(each));
      if (stored !== undefined) return JSON.parse(readFileSync(stored, 'utf8')) as Result;
      await pause(lookEveryMs);
    }
  };
  const stateOf = (words: string | RegExp) =>
    workbench.panel().locator('.agents td', { hasText: words });
  const agents = (): Promise<readonly Pod[]> => cluster.pods(load, 'agents');
  const idOf = ([pod]: readonly Pod[]): string => pod!.metadata!.labels!['bench-run']!;
  const nothingLeft = async (): Promise<void> => {
    const look = ['get', 'jobs,pods', '--namespace', load, '--output', 'name'];
    while ((await cluster.kubectl(look)) !== '') await pause(lookEveryMs);
  };
  const ready = async (): Promise<void> => {
    await workbench.open(file);
    // An editor that opens late takes the focus, and with it what is typed.
    await workbench.page.locator('.codelens-decoration', { hasText: 'Unit' }).waitFor();
  };
  /** Answers the questions as a person does who takes what is proposed. */
  const start = async (namespace = load, secret?: string): Promise<void> => {
    await ready();
    await workbench.command('Benchmark: Run on Kubernetes');
    await widgets.pick('test').click();
    await widgets.fill('Run on Kubernetes: namespace', namespace);
    await widgets.fill('Run on Kubernetes: agents', '3');
    if (secret !== undefined) await widgets.fill('Run on Kubernetes: Secret with TEAM_HUB', secret);
    // Whose machine a reference names is not known here: it is asked for anew.
    if (!isAgreed || secret !== undefined) await widgets.button(widgets.dialog(), 'Run').click();
    isAgreed ||= secret === undefined;
  };

  it('shows it live, names an agent that dies in mid-step, never passes, and leaves nothing there', async () => {
    await start();
    await livePercentiles(workbench).waitFor();
    await stateOf('running').nth(2).waitFor();
    await workbench.screenshot('cluster-live');
    const pods = await agents();
    const run = idOf(pods);
    killProcessOf(pods[0]!);
    const dead = pods[0]!.spec!.nodeName!;
    await stateOf(/^(silent|lost) after \d+ s$/)
      .first()
      .waitFor();
    await workbench.screenshot('cluster-silent');
    await stateOf(/^lost after \d+ s$/)
      .first()
      .waitFor({ timeout: lostWithinMs });
    const result = await resultBeside([]);
    assert.equal(result.verdict.status, 'incomplete');
    assert.equal(result.ending, 'workerLost');
    const lost = result.agents?.filter(({ status }) => status === 'lost') ?? [];
    assert.deepEqual(
      lost.map(({ node }) => node),
      [dead],
    );
    const step = onlyStep(result);
    assert.ok(step.received > 0 && step.lost === 0, `${step.received} of ${step.expected}`);
    const [{ index }] = lost as [(typeof lost)[number]];
    await workbench.panel().getByText(`Lost: agent ${index} (${dead}).`).waitFor();
    await workbench
      .panel()
      .locator('.verdict', { hasText: /incomplete/i })
      .waitFor();
    await workbench.screenshot('cluster-lost');
    await widgets.showSidebar();
    await widgets.row(/incomplete/i).waitFor();
    await workbench.screenshot('cluster-sidebar');
    await cluster.untilNothingLeft(load, run);
  });

  it('goes on without the window, and is found again by the next one', async () => {
    const before = results();
    await start();
    await livePercentiles(workbench).waitFor();
    const run = idOf(await agents());
    const partial = results().filter((folder) => !before.includes(folder));
    assert.equal(partial.length, 1);
    await workbench.open();
    const offer = widgets.notice('goes on in its cluster');
    await offer.waitFor();
    await workbench.screenshot('cluster-offered');
    await widgets.button(offer, 'Attach').click();
    const result = await resultBeside(before);
    assert.equal(result.verdict.status, 'pass', JSON.stringify(result.verdict.reasons));
    assert.deepEqual(
      result.agents?.map(({ status }) => status),
      ['done', 'done', 'done'],
    );
    const { received, expected, lost } = onlyStep(result);
    assert.ok(received > 0 && received === expected && lost === 0, `${received} of ${expected}`);
    assert.ok(!existsSync(partial[0]!), 'what was seen of it before is in its result');
    await cluster.untilNothingLeft(load, run);
  });

  it('attaches to a run of somebody else, and leaves it there', async () => {
    const before = results();
    const reading = ['create', 'role', 'reads', '--verb=get', '--resource=secrets'];
    await cluster.kubectl([...reading, '--namespace', load]);
    await cluster.bind('reads', load);
    const run = cluster.newId();
    const config = { workers: 1, baseSending: 9, singleStepDuration: '12s', warmup: '200ms' };
    const going = cluster.run(load, run, { useCase: 'broadcast', config });
    await going.said('measuring');
    going.child.kill('SIGKILL');
    await going.finished;
    await ready();
    await workbench.command('Attach to Kubernetes Run');
    await widgets.pick('test').click();
    await widgets.fill('Attach to Kubernetes Run: namespace', load);
    await widgets.pick(run).waitFor();
    await workbench.screenshot('cluster-attach');
    await widgets.pick(run).click();
    const result = await resultBeside(before);
    assert.equal(result.verdict.status, 'pass', JSON.stringify(result.verdict.reasons));
    const { received, expected } = onlyStep(result);
    assert.ok(received > 0 && received === expected, `${received} of ${expected}`);
    assert.notDeepEqual(await cluster.left(load, run), []);
    await cluster.kubectl(['delete', 'job', `signalr-bench-${run}`, '--namespace', load]);
    await cluster.untilNothingLeft(load, run);
  });

  it('says what the cluster refuses as the command line does', async () => {
    const bare = await cluster.namespace('closed', rightToList);
    await start(bare);
    const notice = widgets.notice('You may not create configmaps');
    await notice.waitFor();
    await workbench.screenshot('cluster-refused');
    const shown = (await notice.textContent()) ?? '';
    assert.match(shown, /Ask for these rights, or name another namespace\./);
  });

  it('says that an image cannot be pulled, and leaves nothing when it is called off', async () => {
    workbench.change({ 'signalrBenchmark.kubernetesBusImage': 'signalr-bench.test/nothing:1' });
    await start();
    const notice = widgets.notice(/ErrImagePull|ImagePullBackOff/);
    await notice.waitFor({ timeout: lostWithinMs });
    await workbench.screenshot('cluster-no-image');
    await widgets.button(notice, 'Cancel').click();
    await notice.waitFor({ state: 'detached', timeout: lostWithinMs });
    await nothingLeft();
  });

  it('leaves values that are not here to a Secret of the user', async () => {
    const before = results();
    const value = `--from-literal=TEAM_HUB=${cluster.target}`;
    const place = ['--namespace', load];
    workbench.change(cluster.forEditor.machineSettings);
    await cluster.kubectl(['create', 'secret', 'generic', 'team-hub', value, ...place]);
    const config = { workers: 1, agents: 3, baseSending: 9, singleStepDuration: '4s' };
    const target = '${env:TEAM_HUB}';
    const text = scenarioText({ target, useCase: 'broadcast', config });
    writeFileSync(path.join(workbench.workspace, file), text);
    await start(load, 'team-hub');
    const result = await resultBeside(before);
    assert.equal(result.verdict.status, 'pass', JSON.stringify(result.verdict.reasons));
    const { received, expected } = onlyStep(result);
    assert.ok(received > 0 && received === expected, `${received} of ${expected}`);
    await nothingLeft();
  });
});

const rightToList = `kind: Role
apiVersion: rbac.authorization.k8s.io/v1
metadata: { name: signalr-bench }
rules: [{ apiGroups: [''], resources: [pods], verbs: [get, list] }]
`;
