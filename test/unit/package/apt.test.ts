import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const aptModule = pathToFileURL(path.resolve('scripts', 'apt.mjs')).href;

/** A machine whose apt-get fails where two run at once, and whose package lists are missing until an update succeeds. */
class Machine {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'apt-'));
  private readonly log = path.join(this.folder, 'log');

  /** @param failingUpdates how many updates fail before one succeeds */
  constructor(failingUpdates: number) {
    appendFileSync(this.log, '');
    const program = `#!/bin/sh
cd ${this.folder}
echo "$*" >> log
case "$*" in --version) exit 0 ;; esac
mkdir running 2>/dev/null || { echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2; exit 100; }
sleep 0.2
rmdir running
case "$*" in
  *update)
    echo update >> tries
    [ "$(wc -l < tries)" -gt ${failingUpdates} ] || { echo 'E: Failed to fetch the list' >&2; exit 100; }
    touch lists ;;
  *) [ -e lists ] || { echo 'E: Unable to locate package' >&2; exit 100; } ;;
esac
`;
    writeFileSync(path.join(this.folder, 'apt-get'), program);
    chmodSync(path.join(this.folder, 'apt-get'), 0o755);
  }

  /** Each in a process of its own, all at once; gives what went wrong in each. */
  async install(...names: string[]): Promise<string[]> {
    return Promise.all(names.map((name) => this.inProcess(name)));
  }

  get commands(): string[] {
    return readFileSync(this.log, 'utf8').trim().split('\n');
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true });
  }

  private inProcess(name: string): Promise<string> {
    const code = `import { apt } from '${aptModule}';
console.log((await apt(['install', '--yes', '${name}'])) ?? 'installed');`;
    const env = {
      ...process.env,
      PATH: `${this.folder}:${process.env['PATH'] ?? ''}`,
      TMPDIR: this.folder,
      SIGNALR_BENCH_APT_PAUSE_MS: '1',
    };
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { env });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    return new Promise((done) => child.once('close', () => done(text.trim())));
  }
}

// Debian's alone; flock is part of each Linux.
if (process.platform === 'linux')
  describe('packages of Debian', () => {
    let machine: Machine;
    const on = (failingUpdates: number): Machine => (machine = new Machine(failingUpdates));
    afterEach(() => machine.dispose());

    it('are installed by one process after the other, where several want some on a new machine', async () => {
      const names = ['chromium', 'nats-server', 'redis-server'];
      assert.deepEqual(await on(0).install(...names), ['installed', 'installed', 'installed']);
      const wanted = names.map(
        (name) => machine.commands.filter((command) => command.endsWith(name)).length,
      );
      assert.ok(wanted.every((times) => times === 1 || times === 2));
    });

    it('are installed where the lists cannot be fetched at first', async () => {
      assert.deepEqual(await on(2).install('chromium'), ['installed']);
      const updates = machine.commands.filter((command) => command.endsWith('update'));
      assert.equal(updates.length, 3);
      assert.ok(updates.every((command) => command.includes('Error-Mode=any')));
    });

    it('are not installed from lists that could not be fetched, and apt says why', async () => {
      assert.deepEqual(await on(1000).install('chromium'), ['E: Failed to fetch the list']);
      assert.equal(machine.commands.filter((command) => command.endsWith('chromium')).length, 1);
    });
  });
