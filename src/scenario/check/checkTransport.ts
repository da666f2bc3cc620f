import { startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';

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
