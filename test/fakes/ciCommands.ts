/** Of the commands that the runner of GitHub carries out; others it takes for text. */
const named = new Set(['add-mask', 'add-path', 'debug', 'echo', 'error', 'group', 'set-env']);

/** As actions/runner reads them, `ActionCommand.cs`: `::name data::` where a line begins, `##[name]` anywhere. */
function isGithub(line: string): boolean {
  const text = line.replace(/^[\s\x85]+/, '');
  const end = text.indexOf('::', 2);
  const [first = ''] = text.startsWith('::') && end >= 0 ? text.slice(2, end).split(' ') : [];
  const at = line.indexOf('##[');
  const close = line.indexOf(']', at);
  const [marked = ''] = at >= 0 && close >= 0 ? line.slice(at + 3, close).split(' ') : [];
  return named.has(first) || named.has(marked);
}

/** As azure-pipelines-agent reads them, `Command.cs`: `##vso[area.event]` anywhere. */
function isAzure(line: string): boolean {
  const text = line.slice(Math.max(0, line.search(/##vso/i)));
  const [open, close] = [text.indexOf('['), text.indexOf(']')];
  if (open < 0 || close - open < 3 || text.slice(0, open).toLowerCase() !== '##vso') return false;
  const [command = ''] = text.slice(open + 1, close).split(' ');
  return command.split('.').filter((part) => part !== '').length === 2;
}

/** Lines of what was printed that a CI service would carry out. */
export const ciCommandsIn = (printed: string): string[] =>
  printed.split(/\r\n|\r|\n/).filter((line) => isGithub(line) || isAzure(line));

/** What a hostile text may hold. */
export const ciCommands = [
  '##vso[task.prependpath]/tmp/evil',
  '##VSO[task.setvariable variable=PATH]/tmp',
  '##[add-mask]the',
  '###[add-mask]the',
  '::add-mask::the',
  '\u00a0::error file=a,line=1::text',
  '::set-env name=NODE_OPTIONS::--require /tmp/evil',
] as const;
