import { ExpectedError } from '../base/expectedError';
import type { Bus } from '../agents/bus/bus';
import type { BusAddress } from '../agents/bus/natsBus';

/**
 * Its code is a bundle of its own, which nobody else loads.
 * @throws ExpectedError `bus-unreachable`; the bus itself throws `bus-failed`
 */
export async function connectBus(address: BusAddress): Promise<Bus> {
  const { connectNats } = await import('../agents/bus/natsBus.js');
  let code = 'bus-unreachable';
  const bus = await connectNats(
    address,
    (message, cause) => new ExpectedError(code, message, { cause }),
  );
  code = 'bus-failed';
  return bus;
}
