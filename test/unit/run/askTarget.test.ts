import assert from 'node:assert/strict';
import { askTimeoutMs, askTarget, type TargetQuestions } from '../../../src/run/askTarget';
import type { OpenTarget } from '../../../src/targets/target';
import type { Endpoint } from '../../../src/base/endpoint';
import { allowedRedirects } from '../../../src/wire/socket/hosts';
import { endpointOf } from '../../fakes/endpoint';
import { planOf } from '../../fakes/plan';

const url = 'http://localhost:5050/hub';
const target: OpenTarget = {
  kind: 'hubUrl',
  endpoint: endpointOf(url),
  secrets: [],
  url,
  hostsBeyond: [],
  dispose: () => Promise.resolve(),
};
const plan = planOf({ dialect: 'auto', parameters: { messageSize: 100, sendingInterval: 100 } });
const yes = (): Promise<boolean> => Promise.resolve(true);

function asking(answers: { readonly hosts?: readonly string[] } = {}) {
  const asked: string[] = [];
  const endpoints: Endpoint[] = [];
  let bothAsked: () => void = () => undefined;
  const both = new Promise<void>((resolve) => (bothAsked = resolve));
  const note = (what: string): Promise<void> => {
    asked.push(what);
    if (asked.length >= 2) bothAsked();
    return both;
  };
  const questions: TargetQuestions = {
    askHub: async (endpoint, _methods, withinMs) => {
      endpoints.push(endpoint);
      await note(`dialect ${withinMs}`);
      return { dialect: 'recordLatency', lacks: [] };
    },
    redirectHosts: async (_endpoint, withinMs) => {
      await note(`redirect ${withinMs}`);
      return answers.hosts ?? [];
    },
  };
  return { asked, endpoints, questions };
}

describe('asking a target before a run', () => {
  it('asks all at once, within the same time, and stays on this machine', async () => {
    // Both are asked before one is answered.
    const { asked, endpoints, questions } = asking();
    const got = await askTarget(target, plan, yes, questions);
    assert.deepEqual(asked.sort(), ['dialect 10000', 'redirect 10000']);
    assert.deepEqual(endpoints[0]?.allowedHosts, []);
    assert.deepEqual(got?.target.endpoint.allowedHosts, []);
    assert.equal(got.plan.dialect, 'recordLatency');
  });

  it('tells which service the hub sends its clients to', async () => {
    const { questions } = asking();
    assert.equal((await askTarget(target, plan, yes, questions))?.service, undefined);
    const askHub = () =>
      Promise.resolve({ dialect: 'recordLatency', lacks: [], service: 'signalr' } as const);
    const redirectHosts = (): Promise<string[]> => Promise.resolve([]);
    for (const agree of [yes, undefined]) {
      const got = await askTarget(target, plan, agree, { askHub, redirectHosts });
      assert.equal(got?.service, 'signalr');
    }
  });

  it('asks anew for the dialect where somebody has agreed to a redirect', async () => {
    const { asked, endpoints, questions } = asking({ hosts: ['a.example'] });
    const got = await askTarget(target, plan, yes, questions);
    assert.deepEqual(got?.target.endpoint.allowedHosts, allowedRedirects(['a.example']));
    assert.deepEqual(asked.sort(), [
      ...['dialect 10000', 'dialect 10000', 'redirect 10000', 'redirect 10000'],
    ]);
    assert.deepEqual(
      endpoints.map(({ allowedHosts }) => allowedHosts),
      [[], allowedRedirects(['a.example'])],
    );
    const no = asking({ hosts: ['a.example'] });
    const refuse = (): Promise<boolean> => Promise.resolve(false);
    assert.equal(await askTarget(target, plan, refuse, no.questions), undefined);
  });

  it('asks where a hub elsewhere redirects, and where that one does, and follows no further', async () => {
    const chain = ['b.example', 'c.example'];
    const redirectHosts: TargetQuestions['redirectHosts'] = ({ allowedHosts = [] }) =>
      Promise.resolve(chain.filter((host) => !allowedHosts.includes(host)).slice(0, 1));
    const askHub = (): Promise<undefined> => Promise.resolve(undefined);
    const beyond = { ...target, hostsBeyond: ['a.example'] };
    const asked: (readonly string[])[] = [];
    const agree = (hosts: readonly string[]): Promise<boolean> => {
      asked.push(hosts);
      return Promise.resolve(true);
    };
    const got = await askTarget(beyond, plan, agree, { askHub, redirectHosts });
    assert.deepEqual(asked, [['b.example'], ['c.example']]);
    assert.deepEqual(
      got?.target.endpoint.allowedHosts,
      allowedRedirects(['a.example', 'b.example', 'c.example']),
    );
    const none = await askTarget(beyond, plan, () => Promise.resolve(false), {
      ...{ askHub, redirectHosts },
    });
    assert.equal(none, undefined);
  });

  it('asks nobody about the hub of the run itself, and a service for none', async () => {
    const agree = (): Promise<never> => Promise.reject(new Error('asked'));
    const redirectHosts = (): Promise<string[]> => Promise.resolve(['a.example']);
    const askHub = (): Promise<undefined> => Promise.resolve(undefined);
    const own = { ...target, kind: 'local' };
    const got = await askTarget(own, plan, agree, { askHub, redirectHosts });
    assert.equal(got?.target.endpoint.allowedHosts, undefined);
    const service = { ...target, kind: 'connectionString', hostsBeyond: ['b.example'] };
    const other = await askTarget(service, plan, agree, { askHub, redirectHosts });
    assert.deepEqual(other?.target.endpoint.allowedHosts, allowedRedirects(['b.example']));
  });

  it('reports what it waits for when the target is silent', async () => {
    let answer: (value: undefined) => void = () => undefined;
    const reported: [string, number][] = [];
    const got = await askTarget(target, plan, undefined, {
      askHub: () => new Promise((resolve) => (answer = resolve)),
      redirectHosts: () => Promise.resolve([]),
      waiting: (...what) => {
        reported.push([what[0], what[1]]);
        answer(undefined);
      },
    });
    assert.deepEqual(reported, [[url, 10_000]]);
    assert.ok(got && got.askedMs > 0);
  });

  it('leaves time for one connect before a silent target is given up', () => {
    for (const [connectTimeoutMs, ms] of [
      [1000, 10_000],
      [10_000, 10_000],
      [15_000, 6500],
      [60_000, 3000],
    ] as const)
      assert.equal(askTimeoutMs({ connectTimeoutMs }), ms);
  });
});
