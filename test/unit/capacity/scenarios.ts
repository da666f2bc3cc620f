import assert from 'node:assert/strict';
import { loadOf } from '../../../src/capacity/load/loadOf';
import type { Estimate, EstimateInput } from '../../../src/capacity/model';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Scenario } from '../../../src/scenario/scenario';

const defaults = parseScenario('config:\n  service: signalr\n').scenario!;

/** Echo over 1,000 connections of Azure SignalR Service, with changes. */
export const scenarioWith = (changes: Partial<Scenario> = {}): Scenario => ({
  ...defaults,
  ...changes,
});

/** The default parameters of every sending use case. */
export const messages = { messageSize: 2048, sendingInterval: 1000 };

/** What the estimate of a scenario goes by. */
export function inputOf(scenario: Scenario): EstimateInput {
  const found = loadOf(scenario);
  assert.ok('input' in found, 'problem' in found ? found.problem : '');
  return found.input;
}

/** The table of each load, and its messages a second in and out. */
export const loadsOf = ({ loads }: Pick<Estimate, 'loads'>): string[] =>
  loads.map((load) => `${load.table} ${load.in_messages_per_s} ${load.out_messages_per_s}`);
