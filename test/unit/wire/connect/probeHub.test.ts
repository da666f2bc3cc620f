import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import { startBenchHub } from '../../../../src/servers/hub/benchHub';
import { contractMethods } from '../../../../src/usecases/registry';
import {
  redirectHosts,
  detectHubTraits,
  probeHub as probe,
  type HubProbe,
} from '../../../../src/wire/connect/probeHub';
import type { Endpoint } from '../../../../src/base/endpoint';
import { endpointOf } from '../../../fakes/endpoint';
import { hubFrame } from '../../../fakes/frames';
import { redirectingHub } from '../../../fakes/redirectingHub';
import { startRawHub } from '../../../fakes/rawHub';
import { ScriptedClassicHub } from '../../../fakes/scriptedClassicHub';
import { VirtualTime } from '../../../fakes/virtualTime';

const probeHub = (endpoint: Endpoint): Promise<HubProbe> => probe(endpoint, contractMethods());

describe('probeHub', () => {
  it('finds the methods and the dialect of the bench hub', async () => {
    const hub = await startBenchHub();
    try {
      const probe = await probeHub(endpointOf(hub.url));
      assert.ok(probe.reachable);
      const absent = probe.methods.filter(({ present }) => !present).map(({ name }) => name);
      assert.deepEqual(absent, []);
      assert.equal(probe.methods.length, 11);
      assert.equal(probe.dialect, 'recordLatency');
      assert.ok(probe.connectMs > 0);
    } finally {
      await hub.dispose();
    }
  });

  it('finds the methods of a hub of the newer contract', async () => {
    const hub = await startBenchHub({ dialect: 'measure' });
    try {
      const probe = await probeHub(endpointOf(hub.url));
      assert.ok(probe.reachable);
      assert.equal(probe.dialect, 'measure');
      assert.deepEqual(
        probe.methods.map(({ name, present }) => (present ? name : `no ${name}`)),
        ['Echo', 'Broadcast', 'SendToConnection', 'GroupBroadcast', 'JoinGroup', 'LeaveGroup'],
      );
      assert.equal((await detectHubTraits(endpointOf(hub.url)))?.dialect, 'measure');
    } finally {
      await hub.dispose();
    }
  });

  it('knows a hub of ASP.NET SignalR, and asks it for no streams', async () => {
    const hub = new ScriptedClassicHub();
    const answers = new Map([
      ['Broadcast', "'Broadcast' method could not be resolved. No method found with that name."],
      ['Echo', "There was an error invoking Hub method 'x.Echo'."],
    ]);
    hub.answers = ({ I, M }) => JSON.stringify({ I, E: answers.get(M) ?? 'Potential candidates' });
    const url = await hub.listen();
    try {
      const probe = await probeHub(endpointOf(url));
      assert.ok(probe.reachable);
      assert.equal(probe.classic, true);
      const shown = probe.methods.map(
        ({ name, present, detail }) => `${present ? '' : 'no '}${name}${detail ? ' ?' : ''}`,
      );
      assert.deepEqual(shown.slice(0, 2).concat(shown.filter((name) => name.includes('Stream'))), [
        'Echo ?',
        'no Broadcast',
      ]);
      const asClassic = endpointOf(url, { classic: true });
      const answer = await detectHubTraits(asClassic, ['Echo', 'Broadcast']);
      assert.deepEqual(answer, { dialect: 'recordLatency', lacks: ['Broadcast'] });
      assert.equal((await detectHubTraits(endpointOf(url)))?.otherKind, 'AspNet');
    } finally {
      await hub.close();
    }
  });

  it('knows a server of ASP.NET SignalR that has no such hub', async () => {
    const hub = await startClassicHub();
    try {
      const probe = await probeHub(endpointOf(hub.url.replace(/[^/]*$/, 'chat')));
      assert.ok(!probe.reachable);
      assert.equal(probe.classic, true);
      assert.match(probe.message, /'chat' Hub could not be resolved/);
    } finally {
      await hub.dispose();
    }
  });

  it('asks a server of ASP.NET SignalR for the name of its hub', async () => {
    const hub = await startClassicHub();
    try {
      for (const url of [
        `${hub.url}/`,
        hub.url.replace(/\/[^/]*$/, ''),
        hub.url.replace(/[^/]*$/, ''),
      ]) {
        const probe = await probeHub(endpointOf(url));
        assert.ok(!probe.reachable);
        assert.equal(probe.classic, true);
        assert.match(
          probe.message,
          /the name of the hub as the last part .*, such as \S+\/signalrbench$/,
        );
      }
    } finally {
      await hub.dispose();
    }
  });

  it('knows the kind of a hub without a connection', async () => {
    const hubs = [await startBenchHub(), await startClassicHub()];
    try {
      const kinds = hubs.flatMap(({ url }) =>
        [{}, { classic: true as const }].map((kind) =>
          detectHubTraits(endpointOf(url, kind), 'kindOnly'),
        ),
      );
      assert.deepEqual(
        (await Promise.all(kinds)).map((answer) => answer?.otherKind),
        [undefined, 'Core', 'AspNet', undefined],
      );
      assert.deepEqual(
        hubs.map(({ connectionCount }) => connectionCount),
        [0, 0],
      );
    } finally {
      for (const hub of hubs) await hub.dispose();
    }
  });

  it('says that a hub of ASP.NET Core is none of ASP.NET SignalR', async () => {
    const hub = await startBenchHub();
    try {
      assert.equal(
        (await detectHubTraits(endpointOf(hub.url, { classic: true })))?.otherKind,
        'Core',
      );
      const nowhere = await detectHubTraits(endpointOf(`${hub.url}/not`, { classic: true }));
      assert.equal(nowhere, undefined);
    } finally {
      await hub.dispose();
    }
  });

  it('reports the class of a wrong path, and of a hub that is gone', async () => {
    const hub = await startBenchHub();
    const wrong = await probeHub(endpointOf(`${hub.url}-not`));
    await hub.dispose();
    const gone = await probeHub(endpointOf(hub.url));
    assert.ok(!wrong.reachable && !gone.reachable);
    assert.deepEqual([wrong.errorClass, gone.errorClass], ['notFound', 'refused']);
    // The run says why.
    assert.equal(await detectHubTraits(endpointOf(hub.url)), undefined);
  });

  it('has not reached a hub that shakes hands and answers nothing', async () => {
    const hub = await startRawHub();
    const time = new VirtualTime().install();
    try {
      const probing = probeHub(endpointOf(hub.url, { skipNegotiation: true }));
      const peer = await hub.nextPeer();
      // All calls are made at once: their times do not add up.
      for (let call = 0; call < 13; call++) await peer.nextFrame();
      await time.to(4000);
      const probe = await probing;
      assert.ok(!probe.reachable);
      assert.equal(probe.errorClass, 'timeout');
      assert.match(probe.message, /takes connections, but answered none of 13 calls within 4 s/);
    } finally {
      time.restore();
      await hub.dispose();
    }
  });

  it('goes no further than a redirect to a machine that nobody agreed to', async () => {
    const hub = await redirectingHub('http://signalr-prod.example/client/?hub=h');
    try {
      const probe = await probeHub(endpointOf(hub.url, { allowedHosts: [] }));
      assert.ok(!probe.reachable);
      assert.equal(probe.redirectsTo, 'signalr-prod.example');
    } finally {
      hub.dispose();
    }
  });

  it('ends at once when the hub drops the connection', async () => {
    const hub = await startRawHub();
    try {
      const time = new VirtualTime().install();
      const probing = probeHub(endpointOf(hub.url, { skipNegotiation: true }));
      const peer = await hub.nextPeer();
      await peer.nextFrame();
      peer.socket.end(hubFrame({ type: 7, error: 'bye' }));
      await peer.closed;
      // The greeting may still come.
      const probe = await time.until(probing, 1000).finally(() => time.restore());
      // Nothing is known of its methods, so none may be called missing.
      assert.ok(!probe.reachable);
      assert.equal(probe.errorClass, 'closed');
      assert.match(probe.message, /takes connections, but closes them before it answers a call/);
    } finally {
      await hub.dispose();
    }
  });
});

describe('detectHubTraits', () => {
  it('says which service a hub sends its clients to', async () => {
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo;
      const there = (path: string) => ({
        url: `http://127.0.0.1:${port}${path}`,
        accessToken: 't',
      });
      const answers: Readonly<Record<string, object>> = {
        '/service/negotiate': there('/client/?hub=chat&asrs.op=%2Fchat'),
        '/elsewhere/negotiate': there('/other?hub=chat'),
      };
      const path = request.url!.split('?')[0]!;
      const transports = [{ transport: 'WebSockets', transferFormats: ['Text'] }];
      const here = { negotiateVersion: 0, connectionId: 'c', availableTransports: transports };
      response.end(JSON.stringify(answers[path] ?? here));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const asked = (hub: string) =>
        detectHubTraits(endpointOf(`http://127.0.0.1:${port}/${hub}`), 'kindOnly');
      assert.deepEqual(await asked('service'), { lacks: [], service: 'signalr' });
      assert.equal(await asked('elsewhere'), undefined);
      assert.equal(await asked('plain'), undefined);
    } finally {
      server.close();
    }
  });

  it('says which methods a hub without a dialect lacks, and has none of the others carried out', async () => {
    const hub = await startBenchHub({ dialect: 'measure' });
    try {
      const methods = ['Echo', 'SendToGroup', 'GroupBroadcast', 'StreamingEcho'];
      assert.deepEqual(await detectHubTraits(endpointOf(hub.url), methods), {
        dialect: 'measure',
        lacks: ['SendToGroup', 'StreamingEcho'],
      });
      assert.equal(hub.counts.deliveries, 0);
    } finally {
      await hub.dispose();
    }
  });

  it('leaves a test hub its faults for the load', async () => {
    const hub = await startBenchHub({ refuse: 2 });
    try {
      assert.equal((await detectHubTraits(endpointOf(hub.url)))?.dialect, 'recordLatency');
      assert.deepEqual(await redirectHosts(endpointOf(hub.url)), []);
      assert.equal(hub.counts.refused, 0);
    } finally {
      await hub.dispose();
    }
  });

  it('is over in time at a hub that answers nothing', async () => {
    const hub = await startRawHub();
    const time = new VirtualTime().install();
    try {
      const asking = detectHubTraits(
        endpointOf(hub.url, { skipNegotiation: true }),
        ['Echo'],
        1500,
      );
      const peer = await hub.nextPeer();
      await time.waitedFor(1000);
      await time.to(1000);
      await peer.nextFrame();
      await time.to(1500);
      assert.equal(await asking, undefined);
    } finally {
      time.restore();
      await hub.dispose();
    }
  });

  it('is measure at a hub that neither greets nor gives the id', async () => {
    const hub = await startRawHub();
    const time = new VirtualTime().install();
    try {
      const asking = detectHubTraits(endpointOf(hub.url, { skipNegotiation: true }));
      const peer = await hub.nextPeer();
      await time.waitedFor(1000);
      await time.to(1000);
      const frame = await peer.nextFrame();
      const { invocationId, target } = JSON.parse(frame.payload.toString().slice(0, -1)) as {
        invocationId: string;
        target: string;
      };
      assert.equal(target, 'GetConnectionId');
      peer.socket.write(hubFrame({ type: 3, invocationId, error: 'Method does not exist.' }));
      assert.deepEqual(await asking, { dialect: 'measure', lacks: [] });
    } finally {
      time.restore();
      await hub.dispose();
    }
  });
});

describe('redirectHosts', () => {
  it('names each host beyond this machine once', async () => {
    const hubs = await Promise.all(
      ['https://b.example/x', 'https://b.example/y', 'http://a.example:81'].map(redirectingHub),
    );
    try {
      const urls = hubs.map(({ url }) => url);
      const hosts = await redirectHosts(endpointOf(urls[0]!, { urls }));
      assert.deepEqual(hosts, ['b.example', 'a.example:81']);
      const direct = endpointOf(urls[0]!, { urls, skipNegotiation: true });
      assert.deepEqual(await redirectHosts(direct), []);
    } finally {
      for (const hub of hubs) hub.dispose();
    }
  });

  it('names none of a hub that stays, and of one that is gone', async () => {
    const hub = await startBenchHub();
    assert.deepEqual(await redirectHosts(endpointOf(hub.url)), []);
    await hub.dispose();
    assert.deepEqual(await redirectHosts(endpointOf(hub.url)), []);
  });
});
