import { maxPayloadBytes } from '../../base/message';
import { azureServices } from '../../base/serviceTraits';
import { searchKinds } from '../../base/searchSummary';
import { connectionPlaceholders } from '../../base/personalText';
import { unitMistakeBelow, namedSpecs } from '../../usecases/parameters';
import { referencePattern } from '../target/references';
import { dataKeys, identityKeys, identityKinds } from './identityKeys';
import {
  anyCasePattern,
  choice,
  entries,
  type Fields,
  flag,
  keyOf,
  section,
  text,
} from './keySpec';

const [texts, targets, list] = [keyOf('texts'), keyOf('targets'), keyOf('list')];
const [count, duration, size] = [keyOf('count'), keyOf('duration'), keyOf('size')];
const [share, rate] = [keyOf('share'), keyOf('rate')];

const observeKeys = namedSpecs({
  prometheus: text(
    {
      references: true,
      optional: true,
      // References are checked when the run begins.
      pattern: `^\\s*(?:${anyCasePattern('http')}[sS]?://[^\\s/?#]+(?:[/?]\\S*)?\\s*|[^]*\\$\\{[^]*)$`,
      says: 'This is not a URL of an endpoint. Write the whole of it, such as http://localhost:5000/metrics.',
    },
    'URL of an endpoint of the server that answers with metrics in the Prometheus text format, such as `http://localhost:5000/metrics`. It is read once a second.',
  ),
  authorization: text(
    {
      references: true,
      optional: true,
      secret: 'An authorization header',
      pattern: '^[^\\r\\n]*$',
      says: 'authorization has a line break in its value.',
    },
    'Value of the header `Authorization` for it, such as `Bearer ${secret:metrics}`.',
  ),
  series: text(
    {
      optional: true,
      pattern: '^[A-Za-z0-9_:*]{1,200}(?:\\s*,\\s*[A-Za-z0-9_:*]{1,200}){0,19}$',
      says: 'series holds at most 20 names of metrics with * for any part, separated by commas: letters, digits, _ and :.',
    },
    'Further series to keep, by their names with `*` for any part, separated by commas: `orders_*, cache_hits_total`. CPU, memory, garbage collection, the queue and threads of the thread pool and connections are known by themselves.',
  ),
  azureMonitor: text(
    {
      references: true,
      optional: true,
      pattern: `^\\s*(?:/${anyCasePattern('subscriptions')}/[^/]+/${anyCasePattern('resourceGroups')}/[^/]+/${anyCasePattern('providers/Microsoft.SignalRService').replace('.', '\\.')}/(?:${anyCasePattern('SignalR')}|${anyCasePattern('WebPubSub')})/[^/]+|[^]*\\$\\{[^]*)$`,
      says: 'This is not a resource of Azure SignalR Service or Azure Web PubSub. Copy its resource id from the portal: /subscriptions/…/providers/Microsoft.SignalRService/SignalR/NAME.',
    },
    'Resource of Azure SignalR Service or Azure Web PubSub whose metrics are read from Azure Monitor: its resource id, `/subscriptions/…/SignalR/NAME`.',
  ),
  region: text(
    {
      optional: true,
      pattern: '^[a-z0-9]{2,40}$',
      says: 'region is that of the resource, such as westeurope.',
    },
    'Region of that resource, such as `westeurope`.',
  ),
});

const stageKeys = namedSpecs({
  to: count(
    { range: [0, 1_000_000], optional: true },
    'Senders at the end of the stage; or write `rate`.',
  ),
  rate: rate(
    { range: [0, 100_000_000], optional: true },
    'Messages per second at the end of the stage, in place of `to`: as many senders as it takes at their intervals.',
  ),
  over: duration(
    { range: [0, 604_800_000], default: 0, unitMistake: unitMistakeBelow(100, 's') },
    'Length of the ramp to that; 0 gets there at once.',
  ),
  hold: duration(
    { range: [0, 604_800_000], default: 0, unitMistake: unitMistakeBelow(100, 's') },
    'How long it stays there.',
  ),
});
export const maximumStages = 1000;

const longestPushName = 100;
export const pushAudiences = ['everyone', 'group', 'client'] as const;
const pushKeys = namedSpecs({
  name: text(
    { required: true, longest: longestPushName },
    'Client method that the hub calls, such as `PriceChanged`.',
  ),
  perSecond: rate(
    { range: [0.00001, 1_000_000], required: true },
    'How often the hub calls it: all calls of the hub together, however many connections each reaches.',
  ),
  size: size(
    { range: [1, maxPayloadBytes], required: true },
    'Its arguments as JSON text; the whole hub message is larger by its envelope.',
  ),
  to: choice(
    { choices: pushAudiences, default: 'everyone' },
    'Whom one call reaches: `everyone`, all connections; `group`, the members of one group; `client`, one connection.',
  ),
});
export const mostPushes = 100;

const upstreamSpecs = {
  port: count(
    { range: [0, 65_535], default: 0 },
    'Local port of the handler. 0 takes a free one, which is enough where the service runs on this machine.',
  ),
  publicUrl: text(
    { references: true },
    'URL under which the service reaches the handler; required unless the service runs on this machine.',
  ),
};
export const upstreamKeys = namedSpecs(upstreamSpecs);
export type UpstreamSpec = Fields<typeof upstreamSpecs>;

export const searchKeys = namedSpecs({
  of: choice(
    { choices: searchKinds, default: 'senders' },
    'What is varied: the `senders` of a step, the `rate` of all messages per second, the `connections`, or the `messageSize`.',
  ),
  from: size(
    {
      range: [1, 1_000_000_000],
      defaultText:
        'a sixteenth of `to`; for `rate` a quarter of the scenario’s own, for `messageSize` its own',
    },
    'Lowest value, which is tried first: a whole number, for messageSize bytes.',
  ),
  to: size(
    {
      range: [1, 1_000_000_000],
      defaultText:
        '`connections`; for `rate` 64 times the scenario’s own, for `messageSize` 1000 KB',
    },
    'Highest value that is tried.',
  ),
  precision: share(
    { range: [0.001, 1], default: 0.05, unitMistake: unitMistakeBelow(100, '%') },
    'How wide the interval between what held and what did not may be, as a share of it.',
  ),
  budget: duration(
    { range: [1000, 86_400_000], default: 600_000, unitMistake: unitMistakeBelow(1000, 's') },
    'Time for all steps; each lasts `singleStepDuration`, but at most a twentieth of this and at least 8 s.',
  ),
});

export const configSpecs = {
  // Where the load goes and how to get in.
  target: targets(
    { listed: 'first', references: true, defaultText: 'the embedded local hub' },
    'Where the load goes: `local` for the embedded hub, one or more hub URLs, or a connection string.',
  ),
  webAppTarget: targets(
    { listed: 'oldTool', references: true },
    'One or more hub URLs; `target` does the same.',
    'The Azure SignalR benchmark ignored it for use cases of the REST API, and so do we.',
  ),
  targetChoice: choice(
    { choices: ['roundRobin', 'random'], default: 'roundRobin' },
    'How connections are spread over several URLs: `roundRobin` gives connection i the URL i mod count, `random` draws one for each by the seed.',
  ),
  connectionString: text(
    {
      listed: 'oldTool',
      references: true,
      pattern: `(^|;)\\s*[eE][nN][dD][pP][oO][iI][nN][tT]\\s*=|${referencePattern}`,
    },
    'Connection string of Azure SignalR Service or Azure Web PubSub; better a reference such as `${env:NAME}` or `${secret:name}`. `AuthType=azure` in it signs in to Microsoft Entra ID instead of using a key.',
  ),
  service: choice(
    {
      choices: azureServices,
      defaultText:
        'found from the target: `webpubsub` for hosts `*.webpubsub.azure.*`, `signalr` for other connection strings and for REST use cases, else a plain hub',
    },
    'Which service the target is; write it for emulators and with `target: local`.',
  ),
  hub: text({ default: 'signalrbench' }, 'Hub name for service targets.'),
  unit: count(
    { listed: 'first', range: [1, 1000] },
    'Units you have or plan; the estimate is compared with it.',
  ),
  sku: choice({ choices: ['free', 'standard', 'premium'] }, 'Tier of the service instance.'),
  connectionType: choice(
    { listed: 'oldTool', choices: ['Core', 'AspNet'], default: 'Core' },
    '`Core` for ASP.NET Core SignalR; `AspNet` for the older ASP.NET SignalR of .NET Framework, where the last part of the target names the hub and the rest is the server.',
  ),
  headers: texts(
    { references: true, placeholders: connectionPlaceholders },
    'HTTP headers sent with negotiate and with every request of the transport. `{senderIndex}` is the number of the connection, from 0, `{group}` its group, `{identity.COLUMN}` and `{data.COLUMN}` values of its rows, `{time}` and `{ticks}` the time; `{{` stands for a brace.',
  ),
  query: texts(
    { references: true, placeholders: connectionPlaceholders },
    'Query parameters added to the hub URL, with the placeholders of `headers`.',
  ),
  accessToken: text(
    {
      references: true,
      secret: 'An access token',
      placeholders: connectionPlaceholders,
      defaultText: '`{identity.token}` where there are `identities`',
    },
    'Bearer token for the hub; better a reference than the token itself. It may hold the placeholders of `headers`.',
  ),
  identities: section(
    {
      keys: identityKeys,
      kinds: identityKinds,
      rows: true,
      defaultText: 'all connections are the same user',
    },
    'Who the connections are: a list of maps, a `file`, a `rule` that makes tokens, or a `command` or `url` that is asked for them. Connection i is identity i; after the last comes the first. The value `token` of an identity is its access token, and `{identity.NAME}` each of its values.',
  ),
  data: section(
    { keys: dataKeys },
    'Values for arguments, headers, query, identities: `{data.COLUMN}` is one of the row.',
  ),
  caFile: text(
    {},
    'PEM file with the certificate authorities to trust, in place of those that Node knows; relative to the scenario file.',
  ),
  certFile: text(
    {},
    'PEM file with a certificate of the client, for servers that want one; relative to the scenario file.',
  ),
  keyFile: text(
    { defaultText: 'the key in `certFile`' },
    'PEM file with the private key of `certFile`.',
  ),
  keyPassword: text(
    { references: true, secret: 'A password' },
    'Password of the private key; better a reference such as `${secret:name}`.',
  ),
  insecureTls: flag({ default: false }, 'Accepts any certificate. For test systems only.'),

  // What the benchmark hosts for a service.
  appServers: count(
    { range: [1, 100], default: 1 },
    'Internal app servers, for a service in default mode.',
  ),
  serverConnections: count(
    { range: [1, 1000], default: 5 },
    'Connections of each internal app server to the service.',
  ),
  serverStickyMode: choice(
    { choices: ['disabled', 'preferred', 'required'], defaultText: 'disabled' },
    'Whether a client of a service in default mode is served by the app server it has negotiated with: `disabled`, by any; `preferred`, by that one while it is connected; `required`, by no other.',
  ),
  upstream: section(
    { keys: upstreamKeys },
    'Handler hosted by the benchmark for the calls of the service.',
  ),

  // How connections are made.
  transport: choice(
    { choices: ['Websockets', 'ServerSentEvents', 'LongPolling'], default: 'Websockets' },
    'How messages travel: over one WebSocket; as server-sent events down and POSTs up; or by long polling. The latter two take two sockets a connection, and the server has to offer them.',
  ),
  protocol: choice(
    { choices: ['json', 'messagepack'], default: 'json' },
    'Hub protocol; ASP.NET Core speaks messagepack after AddSignalR().AddMessagePackProtocol().',
    'The Azure SignalR benchmark silently read every other text as json.',
  ),

  // How clients of Azure Web PubSub talk.
  subprotocol: choice(
    { choices: ['json', 'reliableJson', 'protobuf', 'reliableProtobuf', 'none'], default: 'json' },
    'How clients of Azure Web PubSub talk: `json`; `reliableJson`, which acknowledges messages and recovers lost sockets; `protobuf`; `reliableProtobuf`; or `none`, plain WebSockets whose messages go to the application.',
  ),
  acks: choice(
    { choices: ['first', 'all'], default: 'first' },
    'Which messages of a client ask Azure Web PubSub for an acknowledgement, so that refused ones are counted as errors: the `first` of each sender, or `all`.',
  ),
  skipNegotiation: flag(
    { default: false },
    'Opens the WebSocket at once, without negotiate; for Websockets only.',
  ),
  connections: count(
    { listed: 'first', range: [1, 1_000_000], default: 1000 },
    'Connections to open, over all workers.',
  ),
  arrivingRate: count(
    { listed: 'first', range: [1, 100_000], default: 50 },
    'Connections opened per second.',
    'In the Azure SignalR benchmark this limited the connections that were opening at the same time, unless another arrivingBatchMode was chosen; write `arrivingBatchMode: HighPress` for that.',
  ),
  arrivingBatchMode: choice(
    {
      listed: 'oldTool',
      choices: ['HighPress', 'LowPress', 'LimitRatePress', 'ExtLimitRatePress'],
      defaultText: 'a true rate',
    },
    'Ramp mode of the Azure SignalR benchmark: `HighPress` limits the connects in flight to arrivingRate, `LowPress` opens batches of that size, `LimitRatePress` and `ExtLimitRatePress` open a tenth of it each 100 ms, the first no faster than connects are over.',
  ),
  arrivingBatchWait: duration(
    { listed: 'oldTool', range: [0, 3_600_000], default: 1000 },
    'Pause between the batches of `arrivingBatchMode: LowPress`.',
  ),
  connectTimeout: duration(
    { range: [1, 600_000], default: 10_000, unitMistake: unitMistakeBelow(100, 's') },
    'Time for negotiate, upgrade and handshake of one connection, retries included.',
  ),
  connectInFlight: count(
    { range: [1, 10_000], default: 100 },
    'Connections that may be opening at the same time.',
  ),

  // How connections come and go after they were opened.
  repair: flag(
    { defaultText: 'true when the file says `kind: perf`, else false' },
    'Reopens connections that were dropped or could not be opened, and joins their groups again. Dropped ones still count as dropped.',
    'The Azure SignalR benchmark repaired once a second with kind: perf; senders did not learn the ids of repaired connections.',
  ),
  reconnectPolicy: choice(
    { choices: ['atOnce', 'fixed', 'exponential', 'signalr'], default: 'fixed' },
    'When a dropped connection is opened again: `atOnce`, after a `fixed` reconnectDelay, `exponential` (doubled each time up to 30 s, with jitter), or as the official clients do by default (`signalr`: 0, 2, 10, 30 s).',
  ),
  reconnectDelay: duration(
    { range: [0, 600_000], default: 1000, unitMistake: unitMistakeBelow(10, 's') },
    'Pause before a dropped connection is opened again; see reconnectPolicy.',
  ),
  lifetime: duration(
    {
      range: [100, 604_800_000],
      unitMistake: unitMistakeBelow(1000, 's', 100),
      defaultText: 'connections stay',
    },
    'Mean life of a connection: each is closed after a random time up to twice this and opened again, at most arrivingRate a second.',
  ),
  // Connections stop sending a second before, which must not reach into the warm-up.
  dropAllAfter: duration(
    { range: [2000, 604_800_000], unitMistake: unitMistakeBelow(100, 's'), defaultText: 'never' },
    'Drops all connections at once, this long after the measured time of each step began; they come back by reconnectPolicy, and the time to recovery is measured.',
  ),

  // Who sends how long, and what judges it.
  baseSending: count(
    { listed: 'first', range: [0, 1_000_000], default: 500 },
    'Connections that send in the first step.',
    'With 0 the Azure SignalR benchmark neither sent nor ended properly.',
  ),
  step: count(
    { listed: 'first', range: [0, 1_000_000], default: 500 },
    'Senders added with each step, until all connections send; 0 is one step only.',
    'When the steps do not divide what is left, the last step of the Azure SignalR benchmark did not reach all connections.',
  ),
  senderOrder: choice(
    { choices: ['random', 'listed'], defaultText: '`random`' },
    'Which connections send: drawn at `random`, or as `listed` in `identities` and `data`, from connection 0 on. The entries of a mix then have their senders one after the other, so that each can have rows of its own.',
  ),
  sendingSteps: count(
    { range: [0, 10_000], default: 0 },
    'Steps to run; 0 runs as many as it takes until all connections send.',
    'The Azure SignalR benchmark never judged the last step.',
  ),
  singleStepDuration: duration(
    {
      listed: 'first',
      range: [1, 604_800_000],
      default: 240_000,
      unitMistake: unitMistakeBelow(1000, 's'),
    },
    'Measured time of each step.',
  ),
  warmup: duration(
    {
      listed: 'first',
      range: [0, 3_600_000],
      unitMistake: unitMistakeBelow(100, 's'),
      defaultText: '5 s, or singleStepDuration if that is shorter',
    },
    'Time at the start of each step in which messages are sent but not measured.',
  ),
  drain: duration(
    { range: [0, 3_600_000], default: 5000, unitMistake: unitMistakeBelow(100, 's') },
    'Longest wait for outstanding deliveries after each step. It ends as soon as all have arrived.',
  ),
  pacing: choice(
    { choices: ['open', 'closed'], default: 'open' },
    '`open` sends by a schedule fixed in advance; `closed` waits after each send, as the Azure SignalR benchmark did.',
  ),
  arrivals: choice(
    { choices: ['even', 'poisson', 'jitter'], optional: true, defaultText: '`even`' },
    'When messages are due: `even` spaces them evenly over all senders; `poisson` draws the gaps of each sender from an exponential distribution with the same mean, as independent users would send; `jitter` has each sender send once in each interval, at a drawn moment. The same `seed` draws the same.',
  ),
  stages: entries(
    {
      keys: stageKeys,
      kinds: { to: ['over', 'hold'], rate: ['over', 'hold'] },
      most: maximumStages,
      example: '{ to: 500, over: 30s, hold: 1m }',
    },
    'One step in which the number of senders changes: each stage ramps to a number and holds it. It begins with `baseSending` where that is written, else with none. In place of `step`, `sendingSteps` and `singleStepDuration`; the estimate takes the highest number.',
  ),
  observe: entries(
    {
      keys: observeKeys,
      kinds: { prometheus: ['authorization', 'series'], azureMonitor: ['region'] },
      most: 10,
      example: '{ prometheus: http://localhost:5000/metrics }',
    },
    'What is seen of the server beside the load: metrics of its own, drawn under the latency, kept in the result, and named where they reach a bound.',
  ),
  pushes: entries(
    {
      keys: pushKeys,
      most: mostPushes,
      example: '{ name: PriceChanged, perSecond: 2, size: 100, to: everyone }',
    },
    'What the hub sends on its own, such as prices or presence, for the estimate: it cannot know that. Nothing of it is sent by a run, which counts what really comes.',
  ),
  timeToAll: flag(
    { optional: true },
    'Measures how long each message to everyone or to a group takes until the last of its receivers has it, as a series of its own. An objective such as `timeToAll.p99` does so too.',
  ),
  driver: choice(
    { choices: ['native', 'sdk'], default: 'native' },
    'Own client for the highest load, or the official client library (`sdk`) as a cross-check, at several times the CPU per message; with Azure Web PubSub for `json` and `reliableJson`.',
  ),
  dialect: choice(
    { choices: ['auto', 'recordLatency', 'measure'], default: 'auto' },
    'Contract of the hub: `recordLatency`, `measure`, or `auto` to find out.',
  ),
  workers: count(
    { range: [1, 256], defaultText: 'one less than the cores, at least 1' },
    'Threads that produce the load; of each agent, where there are several.',
  ),
  processes: count(
    { range: [0, 256], defaultText: '0, as many as it takes' },
    'Processes of this machine that produce the load, each with one worker: `workers` does not count where there are several. 0 takes one, or as many as it needs where one may not open enough file descriptors.',
  ),
  localAddresses: list(
    {
      optional: true,
      defaultText:
        'the system chooses; with more than 16,000 sockets to `127.0.0.1` as many of loopback as it takes',
    },
    'Addresses of this machine that connections come from in turn, as a list or separated by commas: each has local ports of its own, about 28,000.',
  ),
  agents: count(
    { range: [1, 1000], defaultText: '1' },
    'Processes that share the load, usually on as many machines: `run --on` on the command line, _Run on Kubernetes…_ in VS Code.',
  ),
  repeat: count(
    { range: [1, 100], defaultText: '1' },
    'How often all steps are run, one round after the other: the result says how far the rounds lie apart. A capacity search and rounds of connecting are not repeated.',
  ),
  unlikeRecording: text(
    { optional: true },
    'How much more or less a client calls than in the recording that the scenario was made of, such as `600 times the calls`. A run wants a yes before it; leave it out once the load is as it should be.',
  ),
  seed: count(
    { range: [0, 4_294_967_295], default: 1 },
    'Start of the random numbers: the same seed gives the same run.',
  ),
  connectionFailPercentage: share(
    {
      listed: 'oldTool',
      range: [0, 1],
      defaultText: '`slo.dropped`',
      unitMistake: unitMistakeBelow(100, '%'),
    },
    'Share of connections that may fail or drop, 0 to 1; read as `slo.dropped`.',
    'The Azure SignalR benchmark did not check it for the last step.',
  ),
  latencyPercentage: share(
    {
      listed: 'oldTool',
      range: [0, 1],
      defaultText: '`slo.p99: 1s`',
      unitMistake: unitMistakeBelow(100, '%'),
    },
    'Share of messages that may take 1 s or longer, 0 to 1; read as the limit of a percentile in `slo`.',
    'The Azure SignalR benchmark did not check it for the last step, and lost messages did not count.',
  ),
  resultFilePath: text(
    { listed: 'oldTool', defaultText: 'no counter file' },
    'Name of a counter file in the Azure SignalR benchmark’s format, written into the result folder; with `kind: resultparser` the file to read, relative to the scenario file.',
    'The Azure SignalR benchmark always wrote one, wherever the path led, replacing what was there; here only the name counts.',
  ),
  debug: flag({ listed: 'oldTool', default: false }, 'Accepted for old files; has no effect.'),
} as const;

export const configKeys = namedSpecs(configSpecs);

/** Keys with a reader of their own. */
export const keysReadApart = [
  'target',
  'webAppTarget',
  'connectionString',
  'service',
  'upstream',
  'identities',
  'data',
  'stages',
  'observe',
  'pushes',
  'localAddresses',
  'connectionFailPercentage',
  'latencyPercentage',
] as const;

export type ConfigFields = Fields<
  Omit<typeof configSpecs, (typeof keysReadApart)[number]>,
  'repair' | 'warmup'
>;
