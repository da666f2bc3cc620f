import type { KeySpec } from './keySpec';
import { lifeKeys } from './lifeKeys';
import { pubSubKeys } from './pubSubKeys';
import { referencePattern } from '../target/references';
import { batchModes, dialects, protocols, skus, targetChoices, transports } from '../scenario';
import { serviceKeys } from './serviceKeys';

/** Where the load goes and how to get in. */
const targetKeys: readonly KeySpec[] = [
  {
    name: 'target',
    type: 'targets',
    listed: 'first',
    references: true,
    defaultText: 'the embedded local hub',
    summary:
      'Where the load goes: `local` for the embedded hub, one or more hub URLs, or a connection string.',
  },
  {
    name: 'webAppTarget',
    type: 'targets',
    listed: 'oldTool',
    references: true,
    summary: 'One or more hub URLs; `target` does the same.',
    seedNote: 'The Azure SignalR benchmark ignored it for use cases of the REST API, and so do we.',
  },
  {
    name: 'targetChoice',
    type: 'choice',
    default: 'roundRobin',
    choices: targetChoices,
    summary:
      'How connections are spread over several URLs: `roundRobin` gives connection i the URL i mod count, `random` draws one for each by the seed.',
  },
  {
    name: 'connectionString',
    type: 'text',
    listed: 'oldTool',
    references: true,
    pattern: `(^|;)\\s*[eE][nN][dD][pP][oO][iI][nN][tT]\\s*=|${referencePattern}`,
    summary:
      'Connection string of Azure SignalR Service or Azure Web PubSub; better a reference such as `${env:NAME}` or `${secret:name}`. `AuthType=azure` in it signs in to Microsoft Entra ID instead of using a key.',
  },
  {
    name: 'service',
    type: 'choice',
    choices: ['signalr', 'webpubsub'],
    defaultText:
      'found from the target: `webpubsub` for hosts *.webpubsub.azure.*, `signalr` for other connection strings and for REST use cases, else a plain hub',
    summary: 'Which service the target is; write it for emulators and with `target: local`.',
  },
  {
    name: 'hub',
    type: 'text',
    default: 'signalrbench',
    summary: 'Hub name for service targets.',
  },
  {
    name: 'unit',
    type: 'count',
    listed: 'first',
    minimum: 1,
    maximum: 1000,
    summary: 'Units you have or plan; the estimate is compared with it.',
  },
  {
    name: 'sku',
    type: 'choice',
    choices: skus,
    summary: 'Tier of the service instance.',
  },
  {
    name: 'connectionType',
    type: 'choice',
    listed: 'oldTool',
    default: 'Core',
    choices: ['Core', 'AspNet'],
    summary: 'ASP.NET Core SignalR, or the older ASP.NET SignalR.',
  },
  {
    name: 'headers',
    type: 'texts',
    references: true,
    summary:
      'HTTP headers sent with negotiate and with every request of the transport. `{senderIndex}` is the number of the connection, from 0; `{{` stands for a brace.',
  },
  {
    name: 'query',
    type: 'texts',
    references: true,
    summary:
      'Query parameters added to the hub URL. `{senderIndex}` is the number of the connection, from 0; `{{` stands for a brace.',
  },
  {
    name: 'accessToken',
    type: 'text',
    references: true,
    summary: 'Bearer token for the hub; better a reference than the token itself.',
  },
  {
    name: 'caFile',
    type: 'text',
    summary: 'PEM file with further certificate authorities, relative to the scenario file.',
  },
  {
    name: 'certFile',
    type: 'text',
    summary:
      'PEM file with a certificate of the client, for servers that want one; relative to the scenario file.',
  },
  {
    name: 'keyFile',
    type: 'text',
    defaultText: 'the key in `certFile`',
    summary: 'PEM file with the private key of `certFile`.',
  },
  {
    name: 'keyPassword',
    type: 'text',
    references: true,
    summary: 'Password of the private key; better a reference such as `${secret:name}`.',
  },
  {
    name: 'insecureTls',
    type: 'flag',
    default: false,
    summary: 'Accepts any certificate. For test systems only.',
  },
];

/** How connections are made. */
const connectionKeys: readonly KeySpec[] = [
  {
    name: 'transport',
    type: 'choice',
    default: 'Websockets',
    choices: transports,
    summary:
      'How messages travel: over one WebSocket; as server-sent events down and POSTs up; or by long polling. The latter two take two sockets a connection, and the server has to offer them.',
  },
  {
    name: 'protocol',
    type: 'choice',
    default: 'json',
    choices: protocols,
    summary:
      'Hub protocol; ASP.NET Core speaks messagepack after AddSignalR().AddMessagePackProtocol().',
    seedNote: 'The Azure SignalR benchmark silently read every other text as json.',
  },
  ...pubSubKeys,
  {
    name: 'skipNegotiation',
    type: 'flag',
    default: false,
    summary: 'Opens the WebSocket at once, without negotiate; for Websockets only.',
  },
  {
    name: 'connections',
    type: 'count',
    listed: 'first',
    default: 1000,
    minimum: 1,
    maximum: 1_000_000,
    summary: 'Connections to open, over all workers.',
  },
  {
    name: 'arrivingRate',
    type: 'count',
    listed: 'first',
    default: 50,
    minimum: 1,
    maximum: 100_000,
    summary: 'Connections opened per second.',
    seedNote:
      'In the Azure SignalR benchmark this limited the connections that were opening at the same time, unless another arrivingBatchMode was chosen; write `arrivingBatchMode: HighPress` for that.',
  },
  {
    name: 'arrivingBatchMode',
    type: 'choice',
    listed: 'oldTool',
    choices: batchModes,
    defaultText: 'a true rate',
    summary:
      'Ramp mode of the Azure SignalR benchmark: `HighPress` limits the connects in flight to arrivingRate, `LowPress` opens batches of that size, `LimitRatePress` and `ExtLimitRatePress` open a tenth of it each 100 ms, the first no faster than connects are over.',
  },
  {
    name: 'arrivingBatchWait',
    type: 'duration',
    listed: 'oldTool',
    default: 1000,
    minimum: 0,
    maximum: 3_600_000,
    summary: 'Pause between the batches of `arrivingBatchMode: LowPress`.',
  },
  {
    name: 'connectTimeout',
    type: 'duration',
    default: 10_000,
    minimum: 1,
    maximum: 600_000,
    unitMistake: { from: 1, below: 100, unit: 's' },
    summary: 'Time for negotiate, upgrade and handshake of one connection, retries included.',
  },
  {
    name: 'connectInFlight',
    type: 'count',
    default: 100,
    minimum: 1,
    maximum: 10_000,
    summary: 'Connections that may be opening at the same time.',
  },
];

/** Who sends how long, and what judges it. */
const loadKeys: readonly KeySpec[] = [
  {
    name: 'baseSending',
    type: 'count',
    listed: 'first',
    default: 500,
    minimum: 0,
    maximum: 1_000_000,
    summary: 'Connections that send in the first step.',
    seedNote: 'With 0 the Azure SignalR benchmark neither sent nor ended in order.',
  },
  {
    name: 'step',
    type: 'count',
    listed: 'first',
    default: 500,
    minimum: 0,
    maximum: 1_000_000,
    summary: 'Senders added with each step, until all connections send; 0 is one step only.',
    seedNote:
      'When the steps do not divide what is left, the last step of the Azure SignalR benchmark did not reach all connections.',
  },
  {
    name: 'sendingSteps',
    type: 'count',
    default: 0,
    minimum: 0,
    maximum: 10_000,
    summary: 'Steps to run; 0 runs as many as it takes until all connections send.',
    seedNote: 'The Azure SignalR benchmark never judged the last step.',
  },
  {
    name: 'singleStepDuration',
    type: 'duration',
    listed: 'first',
    default: 240_000,
    minimum: 1,
    maximum: 604_800_000,
    unitMistake: { from: 1, below: 1000, unit: 's' },
    summary: 'Measured time of each step.',
  },
  {
    name: 'warmup',
    type: 'duration',
    listed: 'first',
    minimum: 0,
    maximum: 3_600_000,
    unitMistake: { from: 1, below: 100, unit: 's' },
    defaultText: '5 s, or singleStepDuration if that is shorter',
    summary: 'Sending before each step that is not measured.',
  },
  {
    name: 'drain',
    type: 'duration',
    default: 5000,
    minimum: 0,
    maximum: 3_600_000,
    unitMistake: { from: 1, below: 100, unit: 's' },
    summary:
      'Longest wait for outstanding deliveries after each step; over as soon as none is left.',
  },
  {
    name: 'pacing',
    type: 'choice',
    default: 'open',
    choices: ['open', 'closed'],
    summary:
      '`open` sends by a schedule fixed in advance; `closed` waits after each send, as the Azure SignalR benchmark did.',
  },
  {
    name: 'driver',
    type: 'choice',
    default: 'native',
    choices: ['native', 'sdk'],
    summary:
      'Own client for the highest load, or the official client library (`sdk`) as a cross-check, at several times the CPU per message; with Azure Web PubSub for `json` and `reliableJson`.',
  },
  {
    name: 'dialect',
    type: 'choice',
    default: 'auto',
    choices: dialects,
    summary: 'Contract of the hub: `recordLatency`, `measure`, or `auto` to find out.',
  },
  {
    name: 'workers',
    type: 'count',
    minimum: 1,
    maximum: 256,
    defaultText: 'one less than the cores, at least 1',
    summary: 'Threads that produce the load.',
  },
  {
    name: 'seed',
    type: 'count',
    default: 1,
    minimum: 0,
    maximum: 4_294_967_295,
    summary: 'Start of the random numbers: the same seed gives the same run.',
  },
  {
    name: 'connectionFailPercentage',
    type: 'share',
    listed: 'oldTool',
    minimum: 0,
    maximum: 1,
    defaultText: '`slo.dropped`',
    unitMistake: { from: 1, below: 100, unit: '%' },
    summary: 'Share of connections that may fail or drop, 0 to 1; read as `slo.dropped`.',
    seedNote: 'The Azure SignalR benchmark did not check it for the last step.',
  },
  {
    name: 'latencyPercentage',
    type: 'share',
    listed: 'oldTool',
    minimum: 0,
    maximum: 1,
    defaultText: '`slo.p99: 1s`',
    unitMistake: { from: 1, below: 100, unit: '%' },
    summary:
      'Share of messages that may take 1 s or longer, 0 to 1; read as the limit of a percentile in `slo`.',
    seedNote:
      'The Azure SignalR benchmark did not check it for the last step, and lost messages did not count.',
  },
  {
    name: 'resultFilePath',
    type: 'text',
    listed: 'oldTool',
    defaultText: 'no counter file',
    summary:
      'Name of a counter file in the Azure SignalR benchmark’s format, written into the result folder; with `kind: resultparser` the file to read, relative to the scenario file.',
    seedNote:
      'The Azure SignalR benchmark always wrote one, wherever the path led, replacing what was there; here only the name counts.',
  },
  {
    name: 'debug',
    type: 'flag',
    listed: 'oldTool',
    default: false,
    summary: 'Accepted for old files; has no effect.',
  },
];

/** Every key under `config`. */
export const configKeys: readonly KeySpec[] = [
  ...targetKeys,
  ...serviceKeys,
  ...connectionKeys,
  ...lifeKeys,
  ...loadKeys,
];
