// Publishes the .NET programs of the interop tests into out/interop, each when its sources are newer than what is there:
// the ASP.NET Core server, whose hubs are those that people are asked to write (media/hub), and the official client and server of ASP.NET SignalR, which are packages of NuGet. Without a usable .NET
// SDK, or without those packages, it says so and succeeds, so that the tests can be skipped; with CI=true that is a failure.
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

const root = fileURLToPath(new URL('..', import.meta.url));
const hubsDir = join(root, 'out', 'interop', 'hubs');

const programs = [
  {
    name: 'ASP.NET Core interop server',
    project: 'benchServer.csproj',
    sources: [join(root, 'test', 'interop', 'aspnetcore'), hubsDir],
    out: 'aspnetcore',
    isNeeded: true,
  },
  {
    name: 'client of ASP.NET SignalR',
    project: 'classicClient.csproj',
    sources: [join(root, 'test', 'interop', 'classic')],
    out: 'classic',
    // Its package has to be fetched once, which a machine without a network cannot.
    isNeeded: false,
  },
  {
    name: 'server of ASP.NET SignalR',
    project: 'classicServer.csproj',
    sources: [join(root, 'test', 'interop', 'classicServer')],
    out: 'classicServer',
    isNeeded: false,
  },
];
const outOf = ({ out }) => join(root, 'out', 'interop', out);
// Written last: a publish that was interrupted is not taken for a finished one.
const stampOf = (program) => join(outOf(program), '.published');
/** First SDK whose web framework has all that the server uses. */
const oldestSdk = 8;

/** Writes `BenchHub.cs` of a dialect, in a namespace of its own, unless it is there. */
function writeHub(dialect, name) {
  const snippet = readFileSync(join(root, 'media', 'hub', `${dialect}.cs`), 'utf8');
  const file = join(hubsDir, `${name}.cs`);
  const code = snippet.slice(snippet.indexOf('// BenchHub.cs'));
  const text = code.replace(/(using .*\n)+/, `$&\nnamespace BenchServer.${name};\n`);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

function newestSourceMs({ sources }) {
  const files = sources.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(cs|csproj|config)$/.test(name))
      .map((name) => join(folder, name)),
  );
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}

/** Major version of the .NET SDK; a text says why there is none to use. */
function sdkMajor() {
  const asked = spawnSync('dotnet', ['--version'], { encoding: 'utf8', cwd: root });
  if (asked.error || asked.status !== 0) return 'no .NET SDK was found (`dotnet --version` fails)';
  const major = Number.parseInt(asked.stdout, 10);
  return major >= oldestSdk
    ? major
    : `the .NET SDK ${asked.stdout.trim()} is too old, ${oldestSdk} or newer is needed`;
}

function publish(program, major) {
  const { name, project, sources, out, isNeeded } = program;
  rmSync(outOf(program), { recursive: true, force: true });
  const args = ['publish', project, '--configuration', 'Release', '--output', outOf(program)];
  args.push('--nologo', '--verbosity', 'quiet', `-p:TargetFramework=net${major}.0`);
  // No build servers: they would outlive this script and keep its output open.
  args.push('-nodeReuse:false', '-p:UseSharedCompilation=false');
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' };
  const done = spawnSync('dotnet', args, { cwd: sources[0], encoding: 'utf8', env });
  if (done.status !== 0) {
    console.error(`${done.stdout ?? ''}${done.stderr ?? ''}`.trim());
    console.error(`The ${name} could not be published.`);
    return isNeeded || process.env.CI === 'true' ? 1 : 0;
  }
  writeFileSync(stampOf(program), '');
  console.log(`${name}: published to out/interop/${out}.`);
  return 0;
}

function main() {
  mkdirSync(hubsDir, { recursive: true });
  writeHub('recordLatency', 'RecordLatency');
  writeHub('measure', 'Measure');
  const outdated = programs.filter((program) => {
    const stamp = stampOf(program);
    const isCurrent = existsSync(stamp) && statSync(stamp).mtimeMs > newestSourceMs(program);
    if (isCurrent) console.log(`${program.name}: up to date.`);
    return !isCurrent;
  });
  const major = outdated.length === 0 ? 0 : sdkMajor();
  if (typeof major === 'number')
    return Math.max(0, ...outdated.map((program) => publish(program, major)));
  const inCi = process.env.CI === 'true';
  for (const { name } of outdated)
    console.log(`${name}: ${inCi ? 'FAILED' : 'skipped'}, ${major}.`);
  return inCi ? 1 : 0;
}

process.exitCode = main();
