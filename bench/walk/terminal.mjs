// A recorder in a terminal of 80 columns, for pictures: the command line draws there what people see. Needs `script` of util-linux.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** Erases what is drawn anew each second; before it the cursor goes up by as many lines. */
const erase = '\x1b[J';
/** Of what people write. */
const rateOf = (screen) => Number(/MessagePosted +\S+ +([\d.]+)/.exec(screen)?.[1] ?? -1);

/** @returns its `url`, and `stop()`, which settles with what the screen was when most was written */
export async function recordInTerminal(folder, target, port) {
  const words = ['record', '--target', target, '--out', 'chat.signalr.yaml'];
  const cli = path.resolve('dist', 'cli.js');
  const command = ['exec', process.execPath, cli, ...words, '--port', port].join(' ');
  const child = spawn('script', ['-qefc', `stty cols 80 rows 24; ${command}`, '/dev/null'], {
    cwd: folder,
  });
  const closed = once(child, 'close');
  let shown = '';
  const url = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text;
      const line = /^\{"url":"([^"]+)"\}/.exec(shown);
      if (line !== null) resolve(line[1]);
    });
    void closed.then(() => reject(new Error(`record ended: ${shown}`)));
  });
  const stop = async () => {
    child.stdin.write('\x03');
    await closed;
    const [first, ...screens] = shown.replaceAll('\r\n', '\n').split(erase);
    const last = screens.reduce((a, b) => (rateOf(b) >= rateOf(a) ? b : a));
    const fullest = last.slice(0, last.lastIndexOf('\x1b['));
    const line = first.slice(0, first.indexOf('\n') + 1);
    return `$ signalr-bench ${words.join(' ')}\n${line}${fullest}`;
  };
  return { url, stop };
}
