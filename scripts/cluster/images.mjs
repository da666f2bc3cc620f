// Images of the test cluster, made of programs of this machine: there is no registry to pull them from.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { environment, natsServer, pauseProgram, run } from './programs.mjs';

export const images = {
  node: 'signalr-bench.test/node:1',
  bus: 'signalr-bench.test/nats:1',
  pause: 'signalr-bench.test/pause:1',
};
const programs = { node: process.execPath, bus: natsServer, pause: pauseProgram };

/** Libraries of a program and what loads them; a static program has none. */
function librariesOf(program) {
  const env = { ...process.env, LD_LIBRARY_PATH: environment.LD_LIBRARY_PATH };
  try {
    const said = run(['ldd', program], { env });
    return [...said.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, file]) => file);
  } catch {
    return [];
  }
}

/** One layer with the program, its libraries and a folder for temporary files, in the form of `docker save`. */
function makeImage(folder, kind) {
  const at = path.join(folder, kind);
  const files = path.join(at, 'files');
  rmSync(at, { recursive: true, force: true });
  const place = (from, to) => {
    mkdirSync(path.join(files, path.dirname(to)), { recursive: true });
    copyFileSync(from, path.join(files, to));
  };
  const program = programs[kind];
  const name = path.basename(program);
  place(program, `usr/local/bin/${name}`);
  for (const file of librariesOf(program)) {
    // The loader has a fixed place; the others are where it looks.
    const isLoader = path.basename(file).startsWith('ld-linux');
    place(file, isLoader ? file : `lib/x86_64-linux-gnu/${path.basename(file)}`);
  }
  mkdirSync(path.join(files, 'tmp'), { mode: 0o1777 });
  run(['tar', '--create', '--file', 'layer.tar', '--directory', 'files', '.'], { cwd: at });
  rmSync(files, { recursive: true });
  const layer = createHash('sha256').update(readFileSync(path.join(at, 'layer.tar')));
  const config = {
    ...{ architecture: 'amd64', os: 'linux' },
    config: {
      Env: ['PATH=/usr/local/bin'],
      // As the official image of NATS; Node's runs what a pod names.
      ...(kind === 'node' ? {} : { Entrypoint: [`/usr/local/bin/${name}`] }),
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer.digest('hex')}`] },
  };
  writeFileSync(path.join(at, 'config.json'), JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: [images[kind]], Layers: ['layer.tar'] }];
  writeFileSync(path.join(at, 'manifest.json'), JSON.stringify(manifest));
  const archive = path.join(folder, `${kind}.tar`);
  const parts = ['manifest.json', 'config.json', 'layer.tar'];
  run(['tar', '--create', '--file', archive, ...parts], { cwd: at });
  rmSync(at, { recursive: true });
  return archive;
}

/** Archives of all images, for `ctr images import`. */
export function makeImages(folder) {
  mkdirSync(folder, { recursive: true });
  return Object.keys(programs).map((kind) => makeImage(folder, kind));
}
