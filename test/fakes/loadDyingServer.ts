// Loaded before a server that a run starts, which then ends as if it had crashed, once the file is there
// that the environment names. Other servers are let be.
import { existsSync } from 'node:fs';

const { LOAD_SERVER_DIES: what = '', LOAD_SERVER_DIES_WITH: file = '' } = process.env;

if (process.argv[2] === 'serve' && process.argv[3] === what) {
  setInterval(() => {
    if (!existsSync(file)) return;
    process.stderr.write('Error: this server dies on purpose\n');
    process.exit(7);
  }, 20).unref();
}
