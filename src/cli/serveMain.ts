/** `serve` alone, as dist/serve.js: the servers of the editor's runs. */
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
