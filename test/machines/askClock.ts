/** Asks for the time of the reference in a process of its own; arguments: the bus, and the subject of the questions. */
import { connectNats } from '../../src/agents/bus/natsBus';
import { ReferenceClock } from '../../src/agents/clock/referenceClock';
import { machineClock } from '../../src/engine/machineClock';

async function ask(url: string, subject: string): Promise<void> {
  const bus = await connectNats({ url, name: 'clock' });
  const machine = machineClock();
  const clock = new ReferenceClock(bus, subject, () => machine.nowUs(), false);
  const found = await clock.begin(() => undefined);
  clock.dispose();
  process.stdout.write(JSON.stringify(found));
  await bus.close();
}

const [url = '', subject = ''] = process.argv.slice(2);
void ask(url, subject);
