/** Messages that a service refuses for their size, on the way on which they go to it. */
import { say, sentence, type Words } from '../../base/sentence';
import { services } from '../../base/serviceTraits';
import { formatBytes, formatCount } from '../../base/units';
import { payloadOf } from '../../usecases/entryPayload';
import { findUseCase, useCases } from '../../usecases/registry';
import { callsOf, sessionStepsOf, sizesOfStep } from '../../usecases/sessionSteps';
import { hubRunOf, type UseCase } from '../../usecases/useCase';
import type { ParsedScenario } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import type { Scenario, ScenarioEntry } from '../../scenario/scenario';
import { scenarioAt } from '../../scenario/searched';
import type { Place } from '../../scenario/text/scenarioReading';
import { wireSizeOfCall, wireSizes, type Spoken } from './wireSizes';

type Sent = Spoken & Pick<Scenario, 'transport'>;

const ways = {
  frame: sentence('in a frame of a client'),
  request: sentence('in a request of a client without WebSockets'),
  body: sentence('in the body of a REST call'),
} as const;

/** In a sentence why the service takes none of the largest messages of an entry; undefined where it takes them. */
export function refusedSize(scenario: Sent, entry: ScenarioEntry): Words | undefined {
  const useCase = findUseCase(entry.name);
  if (useCase === undefined) return undefined;
  const { via } = hubRunOf(useCase, entry.parameters);
  if (via === 'persistent') return undefined;
  const way = via === 'rest' ? 'body' : scenario.transport === 'Websockets' ? 'frame' : 'request';
  const { name, mostBytes } = services[scenario.service];
  const most = mostBytes?.[way];
  const sent = Math.max(0, ...sentBytes(scenario, entry));
  if (most === undefined || sent <= most) return undefined;
  const facts = [entry.name, formatCount(sent), name, formatCount(most), formatBytes(most)];
  const other = unlimited(useCase, scenario);
  return other === undefined
    ? sentence(
        'A message of {0} is {1} bytes with its envelope, and {2} takes at most {3} ({4}) {5}. Send less at a time.',
        ...[...facts, ways[way]],
      )
    : sentence(
        'A message of {0} is {1} bytes with its envelope, and {2} takes at most {3} ({4}) {5}. Send less at a time, or take {6}.',
        ...[...facts, ways[way], other.name],
      );
}

/** The use case that sends the same over a lasting connection, which takes more. */
const unlimited = ({ run: { via, audience } }: UseCase, { service }: Sent): UseCase | undefined =>
  useCases.find(
    ({ run, services: known }) =>
      via === 'rest' &&
      run.via === 'persistent' &&
      run.audience === audience &&
      known.includes(service),
  );

function sentBytes(scenario: Sent, entry: ScenarioEntry): number[] {
  const calls = callsOf(sessionStepsOf(entry.parameters));
  const sizes = calls.flatMap(({ step }) => {
    if (step.kind === 'on') return [];
    const { method } = step;
    const call = { method, arguments: '[]', reply: 'completion' as const };
    return sizesOfStep(step).map((size) => wireSizeOfCall(scenario, call, size));
  });
  return [...sizes, ...wireSizes(scenario, entry, payloadOf(entry.parameters).sizes)].map(
    ({ sent }) => sent,
  );
}

/** At the keys of their sizes, and at the end of the range where a search comes to sizes that no service takes. */
export function messageProblems({
  scenario,
  sizePlaces,
}: Pick<ParsedScenario, 'scenario' | 'sizePlaces'>): Problem[] {
  if (scenario === undefined) return [];
  const problems = (asked: Scenario, placeOf: (at: number) => Place | undefined): Problem[] =>
    asked.entries.flatMap((entry, at): Problem[] => {
      const refused = refusedSize(asked, entry);
      if (refused === undefined) return [];
      const message = say(refused);
      const { offset, length } = placeOf(at) ?? { offset: 0, length: 0 };
      return [{ code: 'message-size', severity: 'warning', message, offset, length }];
    });
  const written = problems(scenario, (at) => sizePlaces?.payloads[at]);
  const { search } = scenario;
  if (search?.of !== 'messageSize') return written;
  const reached = problems(scenarioAt(scenario, search.to), () => sizePlaces?.searchTo);
  return [
    ...written,
    ...reached.filter(({ message }) => written.every((one) => one.message !== message)),
  ];
}
