// `serve hub` as far as the load tests need it, without the command line: the embedded hub in a process of
// its own. Prints {"url":…} and ends with its standard input.
import { parseArgs } from 'node:util';
import { startBenchHub } from '../../src/servers/benchHub';
import {
  parseDelayMs,
  parseEvery,
  parseRefuse,
  parseStall,
  parseThrottle,
  type BenchHubOptions,
} from '../../src/servers/benchHubOptions';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    port: text,
    delay: text,
    stall: text,
    'drop-every': text,
    'dup-every': text,
    'close-after': text,
    refuse: text,
    throttle: text,
    'exit-with-stdin': { type: 'boolean' },
  },
});

const options: BenchHubOptions = {
  port: Number(values.port ?? 0),
  ...(values.delay !== undefined && { delayMs: parseDelayMs(values.delay) }),
  ...(values.stall !== undefined && { stall: parseStall(values.stall) }),
  ...(values['drop-every'] !== undefined && {
    dropEvery: parseEvery('drop-every', values['drop-every']),
  }),
  ...(values['dup-every'] !== undefined && {
    dupEvery: parseEvery('dup-every', values['dup-every']),
  }),
  ...(values['close-after'] !== undefined && {
    closeAfter: parseEvery('close-after', values['close-after']),
  }),
  ...(values.refuse !== undefined && { refuse: parseRefuse(values.refuse) }),
  ...(values.throttle !== undefined && { throttle: parseThrottle(values.throttle) }),
};

void startBenchHub(options).then((hub) => {
  process.stdout.write(`${JSON.stringify({ url: hub.url })}\n`);
  process.stdin.resume();
  process.stdin.once('end', () => process.exit(0));
});
