import assert from 'node:assert/strict';
import { defaultSlo } from '../../../src/base/slo';
import { loadOf } from '../../../src/capacity/load/loadOf';
import type { Estimate, EstimateInput } from '../../../src/capacity/model';
import type { Scenario } from '../../../src/scenario/scenario';

/** A scenario with the defaults of the file format, echo over 1,000 connections, changed as given. */
export function scenarioWith(changes: Partial<Scenario> = {}): Scenario {
  return {
    kind: 'perf',
    service: 'signalr',
    targetChoice: 'roundRobin',
    hub: 'signalrbench',
    connectionType: 'Core',
    connections: 1000,
    arrivingRate: 50,
    arrivingBatchWaitMs: 1000,
    repair: false,
    reconnectPolicy: 'fixed',
    reconnectDelayMs: 1000,
    baseSending: 500,
    step: 500,
    sendingSteps: 0,
    singleStepDurationMs: 240_000,
    warmupMs: 5000,
    drainMs: 5000,
    pacing: 'open',
    driver: 'native',
    dialect: 'auto',
    transport: 'Websockets',
    protocol: 'json',
    subprotocol: 'json',
    acks: 'first',
    skipNegotiation: false,
    connectTimeoutMs: 10_000,
    connectInFlight: 100,
    seed: 1,
    headers: {},
    query: {},
    insecureTls: false,
    appServers: 1,
    serverConnections: 5,
    debug: false,
    entries: [{ name: 'echo', parameters: messages }],
    slo: defaultSlo,
    ...changes,
  };
}

/** The default parameters of every sending use case. */
export const messages = { messageSize: 2048, sendingInterval: 1000 };

/** What the estimate of a scenario goes by. */
export function inputOf(scenario: Scenario): EstimateInput {
  const found = loadOf(scenario);
  assert.ok('input' in found, 'problem' in found ? found.problem : '');
  return found.input;
}

/** The table of each load, and its messages a second in and out. */
export const loadsOf = ({ loads }: Pick<Estimate, 'loads'>): unknown[] =>
  loads.map((load) => [load.table, load.in_messages_per_s, load.out_messages_per_s]);
