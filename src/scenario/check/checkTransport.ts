import { services } from '../../base/services';
import { useCases } from '../../usecases/registry';
import { isRest, type UseCase } from '../../usecases/useCase';
import { writing } from '../text/scenarioReading';
import { configPlace, writtenPlace, type Checked } from './checked';

/** Checks transport, protocol and negotiation against each other. */
export function checkTransport(checked: Checked): void {
  const { service, transport, protocol, skipNegotiation } = checked.scenario;
  const { name, speaksHub } = services[service];
  const report = (key: string, code: string, message: string, instead: string): void =>
    checked.reading.report('error', code, configPlace(checked, key), message, writing(instead));
  if (skipNegotiation && transport !== 'Websockets') {
    const message = `Only Websockets can be opened without negotiate, not ${transport}. Set skipNegotiation to false.`;
    report('skipNegotiation', 'skip-negotiation', message, 'false');
  }
  if (!speaksHub && transport !== 'Websockets') {
    const message = `${name} has WebSockets only, not ${transport}: remove it, or write service: signalr.`;
    report('transport', 'transport-service', message, 'Websockets');
  }
  if (protocol !== 'messagepack') {
    checkBinaryPayloads(checked);
  } else if (!speaksHub) {
    const message = `Clients of ${name} have a subprotocol, not a hub protocol: remove it, or write service: signalr.`;
    report('protocol', 'protocol-service', message, 'json');
  } else if (transport === 'ServerSentEvents') {
    const message =
      'ServerSentEvents carry text only, so messagepack cannot be used. Take json, or another transport.';
    report('protocol', 'protocol-transport', message, 'json');
  }
}

function checkBinaryPayloads({ reading, entries, scenario }: Checked): void {
  const message = services[scenario.service].speaksHub
    ? 'JSON has no form for bytes: write protocol: messagepack under config, or payload: random.'
    : 'JSON has no form for bytes: write payload: random.';
  for (const { entry, parameters } of entries) {
    const written = writtenPlace(reading, parameters, 'payload');
    if (entry.parameters['payload'] !== 'binary' || written === undefined) continue;
    reading.report('error', 'binary-payload', written, message, writing('random'));
  }
}

/**
 * Checks that the subprotocol and its acknowledgements stand where they mean something, and that the use
 * cases can be had with it.
 */
export function checkSubprotocol(checked: Checked): void {
  const { reading, config, entries, scenario } = checked;
  const { service, subprotocol } = scenario;
  const { speaksHub } = services[service];
  const sendsToGroup = ({ services: known, run }: UseCase): boolean =>
    known.includes(service) && run.audience === 'group';
  const place = writtenPlace(reading, config, 'subprotocol');
  const acks = writtenPlace(reading, config, 'acks');
  if (acks !== undefined && speaksHub) {
    const message =
      'Only Azure Web PubSub acknowledges messages: remove it, or write service: webpubsub.';
    reading.report('error', 'acks-service', acks, message);
  } else if (acks !== undefined && subprotocol === 'none') {
    const message =
      'Plain WebSockets have no acknowledgements: remove it, or take another subprotocol.';
    reading.report('error', 'acks-subprotocol', acks, message);
  }
  if (place !== undefined && speaksHub) {
    const message =
      'Only clients of Azure Web PubSub have a subprotocol: remove it, or write service: webpubsub.';
    reading.report('error', 'subprotocol-service', place, message);
  } else if (
    subprotocol === 'none' &&
    entries.some(({ useCase }) => sendsToGroup(useCase) && !isRest(useCase))
  ) {
    const rest = useCases.find((useCase) => sendsToGroup(useCase) && isRest(useCase));
    const instead = rest === undefined ? '' : `, or take ${rest.name}`;
    const message = `Clients without a subprotocol cannot publish to groups: write subprotocol: json${instead}.`;
    const at = configPlace(checked, 'subprotocol');
    reading.report('error', 'subprotocol-use-case', at, message, writing('json'));
  }
}
