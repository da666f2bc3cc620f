import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

export class NatsServer {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-nats-'));
  private child: ChildProcess | undefined;
  private port = 0;

  /** @param config of a bus with users; without one everybody may say everything */
  static async start(config?: (folder: string) => string): Promise<NatsServer> {
    const server = new NatsServer();
    server.port = await freePort();
    if (config) writeFileSync(server.configFile, config(server.folder));
    await server.begin();
    return server;
  }

  private get configFile(): string {
    return path.join(this.folder, 'bus.conf');
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async begin(): Promise<void> {
    const program = readFileSync(path.resolve('out', 'nats', 'program'), 'utf8');
    const where = ['--addr', '127.0.0.1', '--port', `${this.port}`];
    const how = existsSync(this.configFile)
      ? ['--config', this.configFile]
      : ['--jetstream', '--store_dir', this.folder];
    const child = spawn(program, [...where, ...how], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('Server is ready')) resolve();
      });
      child.once('exit', () => reject(new Error(`nats-server ended: ${said}`)));
    });
  }

  /** As one that comes back on another machine: nothing of what it kept is there. */
  async replace(): Promise<void> {
    await this.kill();
    rmSync(path.join(this.folder, 'jetstream'), { recursive: true, force: true, maxRetries: 5 });
    await this.begin();
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
