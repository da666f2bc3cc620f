import { configNames, kinds, topNames } from '../../scenario/scenario';

const lookedAt = 64 * 1024;

const names: ReadonlySet<string> = new Set(topNames);
const innerNames = new Set([...configNames, 'name', 'parameters']);
/** Artillery load tests have sections of the same names, with these keys in them. */
const foreignNames = ['phases', 'flow', 'engine'];

/** Whether a file is a scenario by its name or its top-level keys. */
export function isScenarioText(text: string, fileName: string): boolean {
  if (/\.signalr\.ya?ml$/i.test(fileName)) return true;
  if (/\.[^./\\]*$/.test(fileName) && !/\.ya?ml$/i.test(fileName)) return false;
  const top = new Map<string, string>();
  let inner = false;
  let foreign = false;
  const beginning = text.slice(0, lookedAt);
  const line =
    /^(\uFEFF?)([ \t]*)(?:- +)?(["']?)([A-Za-z][\w-]{0,60})\3[ \t]*:(?=\s|$)([^\r\n]{0,80})/gm;
  for (const [, , indent, , name, value] of beginning.matchAll(line)) {
    const plain = value!.replace(/\s#.*$/, '').trim();
    if (indent === '') top.set(name!, plain.replace(/["']/g, ''));
    else if (foreignNames.includes(name!)) foreign = true;
    else inner ||= innerNames.has(name!);
  }
  // Pipeline files of the Azure SignalR benchmark.
  if (top.has('Pipeline') && (top.has('Types') || top.has('ModuleName'))) return true;
  const known = [...top.keys()].filter((name) => names.has(name)).length;
  if (known === 0 || top.size - known > known) return false;
  const sections = top.has('config') || top.has('scenario') || top.has('scenarios');
  if (top.get('mode') === 'simple' && (sections || top.size === 1)) return true;
  if ((kinds as readonly string[]).includes(top.get('kind') ?? '') && sections) return true;
  return inner && !foreign && top.has('config') && (top.has('scenario') || top.has('scenarios'));
}
