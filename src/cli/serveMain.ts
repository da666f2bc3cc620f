/** The servers that the editor starts for its runs: `serve` without the rest of the command line, as dist/serve.js. */
import { runTree } from './tree/commandTree';
import * as commands from './commands/serveCommand';
import { processIo, runProcess } from './io';
import { addServe, serveDeps } from './tree/serveTree';

runProcess(() =>
  runTree(process.argv.slice(2), processIo(), {
    deps: serveDeps,
    commands: () => Promise.resolve(commands),
    grow: addServe,
  }),
);
