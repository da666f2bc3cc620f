import { useCases } from '../../usecases/registry';
import { isRest, type UseCase } from '../../usecases/useCase';
import { startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';

/**
 * Checks that the subprotocol and its acknowledgements stand where they mean something, and that the use
 * cases can be had with it.
 */
export function checkSubprotocol(reading: Reading, sources: Sources, scenario: Scenario): void {
  const place = writtenPlace(reading, sources.config, 'subprotocol');
  const acks = writtenPlace(reading, sources.config, 'acks');
  if (acks !== undefined && scenario.service !== 'webpubsub') {
    reading.report(
      'error',
      'acks-service',
      acks,
      'Only Azure Web PubSub acknowledges messages: remove it, or write service: webpubsub.',
    );
  } else if (acks !== undefined && scenario.subprotocol === 'none') {
    reading.report(
      'error',
      'acks-subprotocol',
      acks,
      'Plain WebSockets have no acknowledgements: remove it, or take another subprotocol.',
    );
  }
  if (place !== undefined && scenario.service !== 'webpubsub') {
    reading.report(
      'error',
      'subprotocol-service',
      place,
      'Only clients of Azure Web PubSub have a subprotocol: remove it, or write service: webpubsub.',
    );
  } else if (
    scenario.subprotocol === 'none' &&
    sources.entries.some(({ useCase }) => publishesToGroup(useCase))
  ) {
    reading.report(
      'error',
      'subprotocol-use-case',
      place ?? startPlace(reading, sources),
      `Clients without a subprotocol cannot publish to groups: write subprotocol: json${insteadOf()}.`,
      { title: 'Write json', text: 'json' },
    );
  }
}

const sendsToGroup = ({ services, run }: UseCase): boolean =>
  services.includes('webpubsub') && run.audience === 'group';

const publishesToGroup = (useCase: UseCase): boolean => sendsToGroup(useCase) && !isRest(useCase);

/** The use case in which callers of the REST API do it. */
function insteadOf(): string {
  const rest = useCases.find((useCase) => sendsToGroup(useCase) && isRest(useCase));
  return rest === undefined ? '' : `, or take ${rest.name}`;
}
