import assert from 'node:assert/strict';
import { encodeMessage, runSubjects } from '../../../../src/agents/messages';
import { watchLead, RunPublisher, viewRun } from '../../../../src/agents/view/viewRun';
import { VirtualTime } from '../../../fakes/virtualTime';
import { MemoryBus, type MemoryLink } from '../memoryBus';
import { sampleResult } from '../../results/sampleResult';

const subjects = runSubjects('r1');

describe('the lead of a run that is looked at', () => {
  let time: VirtualTime;
  let lead: MemoryLink;
  let link: MemoryLink;
  let lost: number[];

  beforeEach(async () => {
    time = new VirtualTime().install();
    const bus = new MemoryBus();
    [lead, link, lost] = [bus.link(), bus.link(), []];
    await lead.append(subjects.leader, 'r1', '1');
  });
  afterEach(() => time.restore());

  const watch = () => watchLead(link, subjects, () => lost.push(Math.round(time.nowMs / 1000)));
  const pass = (seconds: number): Promise<void> => time.to(time.nowMs + seconds * 1000);

  it('is there for as long as it gives signs of life', async () => {
    const signs = setInterval(() => lead.say(subjects.alive, encodeMessage({})), 50_000);
    const watching = watch();
    await pass(300);
    assert.deepEqual(lost, []);
    clearInterval(signs);
    await pass(58);
    assert.deepEqual(lost, []);
    await pass(10);
    assert.equal(lost.length, 1);
    assert.equal(time.pending, 0);
    watching.dispose();
  });

  it('cannot be heard while the own link is away, nor by a process that stood still', async () => {
    const watching = watch();
    await pass(40);
    link.isConnected = false;
    await pass(100);
    link.isConnected = true;
    time.pass(100_000);
    await pass(17);
    assert.deepEqual(lost, []);
    await pass(4);
    assert.equal(lost.length, 1);
    watching.dispose();
  });

  it('is not lost because of a link that is broken and does not say so', async () => {
    const watching = watch();
    link.hasLog = () => Promise.reject(new Error('no answer'));
    await pass(300);
    assert.deepEqual(lost, []);
    watching.dispose();
  });
});

describe('a run on the bus', () => {
  it('is seen also by who has its end before the run comes to wait for that', async () => {
    const bus = new MemoryBus();
    const publisher = new RunPublisher(bus.link(), runSubjects('r1'));
    const result = sampleResult();
    publisher.title({ file: 'a.yaml', text: '', startedAt: result.startedAt, url: 'http://a' });
    publisher.result(result);
    const titles: string[] = [];
    const viewer = {
      title: ({ file }: { file: string }) => titles.push(file),
      snapshot: () => undefined,
    };
    assert.deepEqual(await viewRun(bus.link(), 'r1', viewer), JSON.parse(JSON.stringify(result)));
    assert.deepEqual(titles, ['a.yaml']);
    // Ten minutes would be too long for the test.
    await publisher.seen();
  });

  it('is said to show nothing where nobody publishes it', async () => {
    const link = new MemoryBus().link();
    await link.openLog(runSubjects('r1').log);
    let leave: (error: Error) => void = () => undefined;
    const left = new Promise<never>((_resolve, reject) => (leave = reject));
    const viewer = {
      title: () => undefined,
      snapshot: () => undefined,
      unseen: () => leave(new Error('nothing was seen')),
    };
    await assert.rejects(viewRun(link, 'r1', viewer, left, 1), /nothing was seen/);
  });
});
