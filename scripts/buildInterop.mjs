// Publishes the ASP.NET Core server of the interop tests into out/interop/aspnetcore, when its sources
// are newer than what is there. Its hubs are those that people are asked to write (src/usecases/hubCode.ts, as
// the type check has compiled it). Without a usable .NET SDK it says so and succeeds, so that the tests can
// be skipped; with CI=true that is a failure.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hubCode } from '../out/src/usecases/hubCode.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const sourceDir = join(root, 'test', 'interop', 'aspnetcore');
const outDir = join(root, 'out', 'interop', 'aspnetcore');
const hubsDir = join(root, 'out', 'interop', 'hubs');
// Written last: a publish that was interrupted is not taken for a finished one.
const stamp = join(outDir, '.published');
/** First SDK whose web framework has all that the server uses. */
const oldestSdk = 8;

/** Writes `BenchHub.cs` of a snippet, in a namespace of its own, unless it is there. */
function writeHub(snippet, name) {
  const file = join(hubsDir, `${name}.cs`);
  const code = snippet.slice(snippet.indexOf('// BenchHub.cs'));
  const text = code.replace(/(using .*\n)+/, `$&\nnamespace BenchServer.${name};\n`);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

function newestSourceMs() {
  const files = [sourceDir, hubsDir].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(cs|csproj|config)$/.test(name))
      .map((name) => join(folder, name)),
  );
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}

/** Major version of the .NET SDK; a text says why there is none to use. */
function sdkMajor() {
  const asked = spawnSync('dotnet', ['--version'], { encoding: 'utf8', cwd: sourceDir });
  if (asked.error || asked.status !== 0) return 'no .NET SDK was found (`dotnet --version` fails)';
  const major = Number.parseInt(asked.stdout, 10);
  return major >= oldestSdk
    ? major
    : `the .NET SDK ${asked.stdout.trim()} is too old, ${oldestSdk} or newer is needed`;
}

function publish(major) {
  rmSync(outDir, { recursive: true, force: true });
  const args = ['publish', 'benchServer.csproj', '--configuration', 'Release', '--output', outDir];
  args.push('--nologo', '--verbosity', 'quiet', `-p:TargetFramework=net${major}.0`);
  // No build servers: they would outlive this script and keep its output open.
  args.push('-nodeReuse:false', '-p:UseSharedCompilation=false');
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' };
  const done = spawnSync('dotnet', args, { cwd: sourceDir, encoding: 'utf8', env });
  if (done.status !== 0) {
    console.error(`${done.stdout ?? ''}${done.stderr ?? ''}`.trim());
    console.error('The ASP.NET Core interop server could not be published.');
    return 1;
  }
  writeFileSync(stamp, '');
  console.log('ASP.NET Core interop server: published to out/interop/aspnetcore.');
  return 0;
}

function main() {
  mkdirSync(hubsDir, { recursive: true });
  writeHub(hubCode('recordLatency'), 'RecordLatency');
  writeHub(hubCode('measure'), 'Measure');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > newestSourceMs()) {
    console.log('ASP.NET Core interop server: up to date.');
    return 0;
  }
  const major = sdkMajor();
  if (typeof major === 'number') return publish(major);
  const inCi = process.env.CI === 'true';
  console.log(`ASP.NET Core interop server: ${inCi ? 'FAILED' : 'skipped'}, ${major}.`);
  return inCi ? 1 : 0;
}

process.exitCode = main();
