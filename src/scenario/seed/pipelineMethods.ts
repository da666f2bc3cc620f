import { findUseCase, useCases } from '../../usecases/registry';

const connecting = 'ConnectionTotal HubUrl Protocol TransportType';
// The first generators wrote it without the c.
const starting = 'ConcurrentConnection ConcurrentConnetion BatchMode BatchWait';
const collecting = 'Interval StatisticsOutputPath PercentileList StatPrintMode';
const counting = 'LatencyMax LatencyStep';
const grouping = 'ConnectionTotal GroupCount';

/** Methods for which a run needs no word, it does that by itself, or not at all; with their parameters. */
const impliedMethods = new Map([
  ['Wait', 'Duration'],
  ['InitStatisticsCollector', counting],
  ['InitConnectionStatisticsCollector', counting],
  ['CollectStatistics', collecting],
  ['CollectConnectionStatistics', collecting],
  ['StopCollector', ''],
  ['RegisterCallbackRecordLatency', ''],
  ['RegisterCallbackOnConnected', ''],
  ['RegisterCallbackJoinGroup', ''],
  ['RegisterCallbackLeaveGroup', ''],
  ['CreateConnection', connecting],
  ['CreateAspNetConnection', connecting],
  ['CreateDirectConnection', connecting],
  ['StartConnection', starting],
  ['StopConnection', ''],
  ['DisposeConnection', ''],
  ['Reconnect', `${connecting} ${starting}`],
  ['AspNetReconnect', `${connecting} ${starting}`],
  ['RepairConnections', 'ActionAfterConnect'],
  ['JoinGroup', grouping],
  ['LeaveGroup', grouping],
  ['CollectConnectionId', `ConnectionTotal ${starting}`],
  [
    'ConditionalStop',
    'CriteriaMaxFailConnectionPercentage CriteriaMaxFailConnectionAmount CriteriaMaxFailSendingPercentage',
  ],
]);

/** What sending methods have; what does not fit the use case is told where its parameters are read. */
const sending = `${grouping} Duration Interval MessageSize Mode Modulo RemainderBegin RemainderEnd GroupLevelRemainderBegin GroupLevelRemainderEnd GroupInternalRemainderBegin GroupInternalRemainderEnd GroupInternalModulo StreamingItemCount StreamingItemSendInterval`;

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Every method there is: sending ones are the use cases by their names, with a capital. */
export const pipelineMethods: readonly string[] = [
  ...impliedMethods.keys(),
  ...useCases.map(({ name }) => upperFirst(name)),
];

export const isSendingMethod = (method: string): boolean =>
  !impliedMethods.has(method) && upperFirst(findUseCase(method)?.name ?? '') === method;

/** Names of the parameters that a method has; undefined when there is no such method. */
export const parametersOf = (method: string): readonly string[] | undefined =>
  (impliedMethods.get(method) ?? (isSendingMethod(method) ? sending : undefined))?.split(' ');
