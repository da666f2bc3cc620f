import { useCases } from '../../usecases/registry';
import { isRest, type UseCase } from '../../usecases/useCase';
import type { Scenario } from '../scenario';
import { startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';

/** Checks transport, protocol and negotiation against each other. */
export function checkTransport(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { service, transport } = scenario;
  const place = (...names: string[]): ReturnType<typeof startPlace> =>
    writtenPlace(reading, sources.config, ...names) ?? startPlace(reading, sources);
  if (scenario.skipNegotiation && transport !== 'Websockets') {
    reading.report(
      'error',
      'skip-negotiation',
      place('skipNegotiation'),
      `Only Websockets can be opened without negotiate, not ${transport}. Set skipNegotiation to false.`,
      { title: 'Write false', text: 'false' },
    );
  }
  if (service === 'webpubsub' && transport !== 'Websockets') {
    reading.report(
      'error',
      'transport-service',
      place('transport'),
      `Azure Web PubSub has WebSockets only, not ${transport}: remove it, or write service: signalr.`,
      { title: 'Write Websockets', text: 'Websockets' },
    );
  }
  if (service === 'webpubsub' && scenario.protocol === 'messagepack') {
    reading.report(
      'error',
      'protocol-service',
      place('protocol'),
      'Clients of Azure Web PubSub have a subprotocol, not a hub protocol: remove it, or write service: signalr.',
      { title: 'Write json', text: 'json' },
    );
  } else if (scenario.protocol === 'messagepack' && transport === 'ServerSentEvents') {
    reading.report(
      'error',
      'protocol-transport',
      place('protocol'),
      'ServerSentEvents carry text only, so messagepack cannot be used. Take json, or another transport.',
      { title: 'Write json', text: 'json' },
    );
  }
  if (scenario.protocol === 'messagepack') return;
  for (const { entry, parameters } of sources.entries) {
    const written = writtenPlace(reading, parameters, 'payload');
    if (entry.parameters['payload'] !== 'binary' || written === undefined) continue;
    reading.report(
      'error',
      'binary-payload',
      written,
      service === 'webpubsub'
        ? 'JSON has no form for bytes: write payload: random.'
        : 'JSON has no form for bytes: write protocol: messagepack under config, or payload: random.',
      { title: 'Write random', text: 'random' },
    );
  }
}

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
