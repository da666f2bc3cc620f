import assert from 'node:assert/strict';
import { stringify } from 'yaml';
import type { CliResult } from '../fakes/loadCli';
import { startFront, testCertificate, type Front } from '../fakes/loadFront';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { statusPeer } from '../fakes/loadPeers';
import { assertRan, CliFolder } from './cliFolder';

const secrets = {
  LOAD_TOKEN: 'token-3f9c1a77d0',
  LOAD_QUERY: 'query-88b1e20c5d',
  SIGNALR_BENCH_SECRET_GATE_KEY: 'header-c47d90aa16',
};

describe('signalr-bench keeps secrets', function () {
  let folder: CliFolder;
  let hub: HubHere;

  before(async () => {
    folder = new CliFolder();
    hub = await startHubHere();
  });
  after(async () => {
    await hub.dispose();
    folder.dispose();
  });

  /** Runs with a secret in each place that takes one; returns all that could leak it. */
  async function runWithSecrets(
    url: string,
    out: string,
  ): Promise<{ done: CliResult; all: string }> {
    const scenario = {
      config: {
        target: `${url}?access=\${env:LOAD_QUERY}`,
        connections: 5,
        baseSending: 5,
        step: 0,
        singleStepDuration: '250ms',
        warmup: 0,
        accessToken: '${env:LOAD_TOKEN}',
        headers: { 'X-Gate': '${secret:gate-key}' },
        query: { code: '${env:LOAD_QUERY}' },
      },
      scenario: { name: 'echo', parameters: { sendingInterval: '50ms' } },
      // What is judged is what is kept, not how busy this machine is.
      slo: { p99: '60s' },
    };
    const file = folder.write(`${out}.yaml`, stringify(scenario));
    folder.empty(out);
    const done = await folder.run(['run', file, '--out', out], secrets);
    const result = folder.onlyResult(out);
    const files = ['result.json', 'samples.jsonl', 'scenario.yaml'];
    const shown = await folder.run(['show', result], secrets);
    const texts = [done, shown].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    return { done, all: [...texts, ...files.map((name) => folder.read(result, name))].join('\n') };
  }

  function assertNoSecret(all: string): void {
    for (const [name, value] of Object.entries(secrets)) {
      assert.ok(!all.includes(value), `the value of ${name} is in the output or the result`);
    }
    assert.ok(all.includes('${env:LOAD_TOKEN}'), 'the reference itself is kept');
  }

  it('when all goes well, and hands them to the hub', async () => {
    const front: Front = await startFront(hub.url);
    try {
      const { done, all } = await runWithSecrets(front.url, 'well');
      assertRan(done);
      assertNoSecret(all);
      const request = front.requests.find((text) => text.includes('/negotiate'));
      assert.ok(request, 'the negotiate request arrived');
      assert.ok(request.includes(`Authorization: Bearer ${secrets.LOAD_TOKEN}`));
      assert.ok(request.includes(`X-Gate: ${secrets.SIGNALR_BENCH_SECRET_GATE_KEY}`));
      assert.ok(request.includes(`access=${secrets.LOAD_QUERY}`));
      assert.ok(request.includes(`code=${secrets.LOAD_QUERY}`));
    } finally {
      await front.dispose();
    }
  });

  it('when the hub refuses them', async () => {
    const peer = await statusPeer(403);
    try {
      const { done, all } = await runWithSecrets(peer.url, 'refused');
      assert.equal(done.code, 3);
      assert.match(done.stdout, /unauthorized/);
      assertNoSecret(all);
    } finally {
      await peer.dispose();
    }
  });

  describe('and checks certificates', () => {
    let front: Front;

    before(async () => {
      front = await startFront(hub.url, { tls: true });
    });
    after(() => front.dispose());

    async function runOverTls(out: string, ...sets: string[]): Promise<CliResult> {
      const config = { connections: 5, baseSending: 5, step: 0, singleStepDuration: '250ms' };
      const parameters = { sendingInterval: '50ms' };
      const file = folder.write(
        'tls.yaml',
        stringify({ config, scenario: { name: 'echo', parameters }, slo: { p99: '60s' } }),
      );
      folder.empty(out);
      const keys = [`config.target=${front.url}`, 'config.warmup=0', ...sets];
      return folder.run(['run', file, '--out', out, ...keys.flatMap((key) => ['--set', key])]);
    }

    it('a certificate that nobody knows ends the run', async () => {
      const done = await runOverTls('unknown', 'config.skipNegotiation=true');
      assert.equal(done.code, 3);
      assert.match(done.stdout, /tls: TLS failed: the certificate is not trusted/);
    });

    it('a certificate named in caFile is trusted, for negotiations too', async () => {
      folder.write('ca.pem', testCertificate);
      const done = await runOverTls('ca', 'config.caFile=ca.pem');
      assertRan(done);
      assert.equal(folder.result('ca').steps[0]!.received, 25);
    });

    it('any certificate is trusted with insecureTls', async () => {
      const done = await runOverTls(
        'any',
        'config.insecureTls=true',
        'config.skipNegotiation=true',
      );
      assertRan(done);
      assert.equal(folder.result('any').steps[0]!.received, 25);
    });
  });
});
