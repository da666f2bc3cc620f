/** The servers that the editor starts for its runs: `serve` without the rest of the command line, as dist/serve.js. */
import { runTree, addServe, serveDeps } from './tree/commandTree';
import * as commands from './commands/serveCommand';
import { processIo, runProcess } from './io';

runProcess(() =>
  runTree(process.argv.slice(2), processIo(), {
    deps: serveDeps,
    commands: () => Promise.resolve(commands),
    grow: addServe,
  }),
);
