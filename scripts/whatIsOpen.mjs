// Says what keeps a process from ending, for the one who has to find it.

/** What is alive of the workers that were started since this was loaded. */
const workers = new Set();
process.on('worker', (worker) => {
  workers.add(worker);
  worker.once('exit', () => workers.delete(worker));
});

/** Most lines of one kind; the others are counted. */
const mostLines = 10;

const address = (host, port) => (port === undefined ? undefined : `${host}:${port}`);

/** A socket, server or child process in a few words; empty where it is this process's own output or unknown. */
function words(handle) {
  const kind = handle?.constructor?.name ?? 'handle';
  if (handle === process.stdin || handle === process.stdout || handle === process.stderr) return '';
  if (handle.spawnfile !== undefined)
    return `child process ${handle.pid}: ${handle.spawnargs.join(' ').slice(0, 200)}`;
  if (handle.listening === true) {
    const at = handle.address();
    return `${kind} listening at ${typeof at === 'string' ? at : address(at?.address, at?.port)}`;
  }
  const own = address(handle.localAddress, handle.localPort);
  const peer = address(handle.remoteAddress, handle.remotePort);
  if (own === undefined && peer === undefined) return '';
  return `${kind} from ${own} to ${peer}`;
}

/**
 * @returns {string[]} a line for each resource that is open: its kind and how many there are, and of sockets, servers,
 *   child processes and workers which
 */
export function whatIsOpen() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const lines = [...counts].map(([kind, count]) => `${count} ${kind}`);
  // The only list there is of the objects themselves; Node may take it away.
  const handles = process._getActiveHandles?.() ?? [];
  const known = [...new Set(handles.map(words))].filter((each) => each !== '');
  known.push(...[...workers].map(({ threadId }) => `worker thread ${threadId}`));
  const left = known.length - mostLines;
  return [...lines, ...known.slice(0, mostLines), ...(left > 0 ? [`${left} more`] : [])];
}
