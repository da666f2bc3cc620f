import type { Scenario } from '../../scenario/scenario';
import { stepsOf } from '../../scenario/steps';
import { serverConnectionsOf } from '../../scenario/target/serverConnections';
import { findUseCase, streamsOf } from '../../usecases/registry';
import { connectionsOnly } from './connectionsOnly';
import { entryTraffic, productOf } from './entryTraffic';
import type { EstimateInput } from '../model';

/**
 * The input of the estimate for a scenario: its last step, the heaviest one. What the published tables
 * do not know is said in `assumptions`. A `problem` is a sentence: the scenario has no table.
 */
export function loadOf(
  scenario: Scenario,
): { readonly input: EstimateInput } | { readonly problem: string } {
  if (scenario.kind === 'resultparser') {
    const problem =
      'There is nothing to estimate: kind: resultparser only reads the counter file of an old run.';
    return { problem };
  }
  const last = stepsOf(scenario).at(-1);
  if (last === undefined) return { problem: 'The scenario has no step to estimate.' };
  const found = entryTraffic(scenario, last);
  if ('problem' in found) return found;
  const product = productOf(scenario);
  const traffic = found.sending.map((sending) => sending.traffic);
  return {
    input: {
      product,
      connections: scenario.connections,
      useCases: traffic.length === 0 ? [connectionsOnly(product)] : traffic,
      ...(scenario.connectionType === 'AspNet' ? { stack: 'aspnet' as const } : {}),
      ...applicationOf(scenario),
      assumptions: assumptionsOf(scenario),
    },
  };
}

/** How a scenario's hub is served, as estimate and recommendation count it. */
export function applicationOf(
  scenario: Scenario,
): Pick<EstimateInput, 'serverless' | 'serverConnections'> {
  const serverConnections = serverConnectionsOf(scenario);
  return {
    ...(scenario.upstream !== undefined ? { serverless: true } : {}),
    ...(serverConnections === undefined ? {} : { serverConnections }),
  };
}

/** Sentences on what a scenario has and the tables have not; also true for its recommendation. */
export function assumptionsOf(
  scenario: Pick<Scenario, 'service' | 'transport' | 'entries'>,
): string[] {
  const used = scenario.entries.flatMap(({ name }) => findUseCase(name) ?? []);
  const sentences: string[] = [];
  if (scenario.service === 'hub') {
    sentences.push('A plain hub has no Units: compared with Azure SignalR in default mode.');
  }
  if (scenario.transport !== 'Websockets') {
    sentences.push(
      `The tables hold for WebSocket clients; ${scenario.transport} is slower and has no table.`,
    );
  }
  if (scenario.entries.some(({ parameters }) => parameters['messageSizes'] !== undefined)) {
    sentences.push('Payloads differ in size: each size counts, and is billed, by its share.');
  }
  if (scenario.entries.some((entry) => streamsOf(entry) !== undefined)) {
    sentences.push('The guides have no table for streams: each item counts as an echo.');
  }
  sentences.push(...used.flatMap(({ assumption }) => assumption ?? []));
  return [...new Set(sentences)];
}
