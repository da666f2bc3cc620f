import assert from 'node:assert/strict';
import { withHubDialect } from '../../../src/run/askTarget';
import type { HubDialect } from '../../../src/base/message';
import type { OpenTarget } from '../../../src/targets/target';
import { planOf } from '../../fakes/plan';

const target = { kind: 'hubUrl', endpoint: { urls: ['http://a/hub'] } } as unknown as OpenTarget;
const local = { ...target, kind: 'local' } as OpenTarget;
const never = (): Promise<never> => Promise.reject(new Error('asked'));
const speaks = (dialect: HubDialect, lacks: readonly string[] = []) =>
  Promise.resolve({ dialect, lacks });
const auto = planOf({
  dialect: 'auto',
  parameters: { messageSize: 100, sendingInterval: 100 },
});

const withoutQuestion = [
  planOf({ dialect: 'measure' }),
  ...['connectOnly', 'invoke'].map((useCase) =>
    planOf({ dialect: 'auto', useCase, parameters: { method: 'M' } }),
  ),
];

describe('the dialect of a run', () => {
  it('is what the hub speaks, recordLatency when it cannot be asked', async () => {
    for (const [answer, dialect] of [
      ['measure', 'measure'],
      ['recordLatency', 'recordLatency'],
      [undefined, 'recordLatency'],
    ] as const) {
      const agreed = await withHubDialect(auto, target, () =>
        answer ? speaks(answer) : Promise.resolve(undefined),
      );
      assert.deepEqual(agreed, { ...auto, dialect });
    }
  });

  it('is not asked for where the file or the target says it, or no bench method is called', async () => {
    assert.equal(await withHubDialect(auto, local, never), auto);
    for (const plan of withoutQuestion) {
      const asked: unknown[] = [];
      const agreed = await withHubDialect(plan, target, (_endpoint, methods) => {
        asked.push(methods);
        return Promise.resolve(undefined);
      });
      assert.equal(agreed, plan);
      assert.deepEqual(asked, ['kindOnly']);
    }
  });

  it('is not looked at where the hub is of the other SignalR', async () => {
    const classic = { ...target, endpoint: { ...target.endpoint, classic: true } } as OpenTarget;
    for (const plan of [auto, ...withoutQuestion]) {
      await assert.rejects(
        withHubDialect(plan, target, () => Promise.resolve({ lacks: [], otherKind: 'AspNet' })),
        { code: 'connection-type', message: /write connectionType: AspNet under config/ },
      );
      await assert.rejects(
        withHubDialect(plan, classic, () => Promise.resolve({ lacks: [], otherKind: 'Core' })),
        { code: 'connection-type', message: /remove connectionType: AspNet/ },
      );
    }
  });

  it('is asked of each hub of a list once, and must be the same', async () => {
    const urls = ['http://a/hub?key=1', 'http://b/hub', 'http://a/hub?key=1', 'http://gone/hub'];
    const list = { ...target, endpoint: { ...target.endpoint, urls } };
    const asked: string[] = [];
    const agreed = await withHubDialect(auto, list, ({ urls: [url] }) => {
      asked.push(url!);
      return url!.includes('gone') ? Promise.resolve(undefined) : speaks('measure');
    });
    assert.equal(agreed.dialect, 'measure');
    assert.deepEqual(asked, [urls[0], urls[1], urls[3]]);
    await assert.rejects(
      withHubDialect(auto, list, ({ urls: [url] }) =>
        speaks(url!.includes('//a') ? 'measure' : 'recordLatency'),
      ),
      /different dialects: http:\/\/a\/hub speaks measure, http:\/\/b\/hub recordLatency\./,
    );
  });

  it('asks a bounded number of hubs', async () => {
    const urls = Array.from({ length: 500 }, (_, at) => `http://hub${at}/`);
    let asked = 0;
    await withHubDialect(auto, { ...target, endpoint: { ...target.endpoint, urls } }, () => {
      asked += 1;
      return Promise.resolve(undefined);
    });
    assert.equal(asked, 32);
  });

  it('keeps a run from starting whose driver cannot send ticks', async () => {
    const sdk = { ...target, endpoint: { ...target.endpoint, driver: 'sdk' } } as OpenTarget;
    const packed = { ...auto, protocol: 'messagepack' } as const;
    const measure = () => speaks('measure');
    await assert.rejects(
      withHubDialect(packed, sdk, measure),
      /speaks the dialect.*driver to native/,
    );
    assert.equal((await withHubDialect(packed, target, measure)).dialect, 'measure');
    assert.equal((await withHubDialect(auto, sdk, measure)).dialect, 'measure');
  });

  it('keeps a run from starting whose methods the hub has in no dialect', async () => {
    const wanted: (readonly string[] | 'kindOnly')[] = [];
    const lacking =
      (...lacks: string[]) =>
      (_endpoint: unknown, methods: readonly string[] | 'kindOnly') => {
        wanted.push(methods);
        return speaks('measure', lacks);
      };
    await assert.rejects(
      withHubDialect(auto, target, lacking('Echo')),
      /^MissingMethods: The hub has no method Echo\. `signalr-bench doctor --target http:\/\/a\/hub`.*use case invoke/,
    );
    const groups = planOf({
      dialect: 'auto',
      useCase: 'sendToGroup',
      parameters: { messageSize: 100, sendingInterval: 100, groupCount: 1 },
    });
    await assert.rejects(
      withHubDialect(groups, target, lacking('SendToGroup', 'GroupBroadcast', 'JoinGroup')),
      /has no methods SendToGroup, JoinGroup\./,
    );
    assert.equal((await withHubDialect(groups, target, lacking('SendToGroup'))).dialect, 'measure');
    assert.deepEqual(wanted, [
      ['Echo'],
      ['SendToGroup', 'JoinGroup', 'GroupBroadcast'],
      ['SendToGroup', 'JoinGroup', 'GroupBroadcast'],
    ]);
  });

  it('keeps a run from starting that has no room for the stamp', async () => {
    const parameters = { messageSize: 20, sendingInterval: 100 };
    const small = planOf({ dialect: 'auto', parameters });
    await assert.rejects(
      withHubDialect(small, target, () => speaks('measure')),
      /seems to speak the dialect measure.*at least 54 bytes.*dialect: recordLatency/,
    );
  });
});
