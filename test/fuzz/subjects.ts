import type { Subject } from './subject';
import { classicFrames } from './subjects/classic';
import { classicCalls } from './subjects/classicCalls';
import { negotiation, serverSentEvents, upgradeAnswers } from './subjects/clientAnswers';
import {
  pubSubRestCalls,
  signalrRestCalls,
  upstreamAnswers,
  upstreamEvents,
} from './subjects/emulators';
import { counters, imports, recordings, results, scenarios } from './subjects/files';
import { frames } from './subjects/frames';
import { hubJson, hubMessagePack } from './subjects/hubMessages';
import { panelMessages } from './subjects/panels';
import { polls } from './subjects/polls';
import { replays } from './subjects/replays';
import {
  classicHubs,
  hubsInJson,
  hubsInMessagePack,
  pubSubClients,
  recorders,
  serviceConnections,
} from './subjects/runningServers';
import { filters, pubSubJson, pubSubProtobuf, serviceProtocol } from './subjects/services';

/** Everything that reads what others send: one line each. */
export const subjects: readonly Subject[] = [
  frames,
  hubJson,
  hubMessagePack,
  classicCalls,
  classicFrames,
  negotiation,
  serverSentEvents,
  polls,
  upgradeAnswers,
  serviceProtocol,
  pubSubJson,
  pubSubProtobuf,
  filters,
  signalrRestCalls,
  pubSubRestCalls,
  upstreamEvents,
  upstreamAnswers,
  scenarios,
  results,
  counters,
  recordings,
  replays,
  imports,
  panelMessages,
  hubsInJson,
  hubsInMessagePack,
  serviceConnections,
  pubSubClients,
  classicHubs,
  recorders,
];
