import { hubMessageOf, type HubMethod, type UseCase } from '../../src/usecases/useCase';
import { messageParameters, numberParameter } from '../../src/usecases/parameters';

const method: HubMethod = {
  name: 'CallEveryone',
  measureName: 'CallAll',
  action: { kind: 'deliver', to: 'everyone' },
};

/** A use case with a parameter and a hub method of its own, which nothing of `src` knows. */
export const madeUpUseCase: UseCase = {
  name: 'callEveryone',
  aliases: ['everyoneCalled'],
  summary: 'Each message is called out to everyone.',
  services: ['hub', 'signalr'],
  hubMethods: [method],
  inGuides: true,
  assumption: 'Calling out is in no table.',
  parameters: [
    ...messageParameters,
    {
      name: 'loudness',
      type: 'count',
      default: 3,
      minimum: 1,
      maximum: 11,
      summary: 'How loud it is called out.',
    },
  ],
  traffic: (parameters, load) => ({
    kind: 'broadcast',
    senders: load.senders,
    intervalS: numberParameter(parameters, 'sendingInterval') / 1000,
    messageBytes: numberParameter(parameters, 'messageSize'),
  }),
  run: { preparation: 'nothing', audience: 'everyone', message: hubMessageOf(method) },
};
