import { ExpectedError } from '../base/expectedError';
import type { Bus } from '../machines/bus/bus';
import type { BusAddress } from '../machines/bus/natsBus';

/** Its code is a bundle of its own, which nobody else loads. @throws ExpectedError `bus-unreachable` */
export async function connectBus(address: BusAddress): Promise<Bus> {
  const { connectNats } = await import('../machines/bus/natsBus.js');
  // Errors of another bundle are of classes of its own.
  return connectNats(address).catch((error: unknown) => {
    throw new ExpectedError('bus-unreachable', (error as Error).message, { cause: error });
  });
}
