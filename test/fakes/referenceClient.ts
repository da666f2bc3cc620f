// The official client in a process of its own, on the same hub at the same time as a run: what it reads of the
// hub's latency holds all that the machine adds, and nothing of the engine. Arguments: URL, transport. Sends without
// waiting for answers until its input ends, then prints the times of its round trips in milliseconds, as JSON.
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';

const intervalMs = 20;

async function main([url, transport]: readonly string[]): Promise<void> {
  const name = transport === 'Websockets' ? 'WebSockets' : transport;
  const connection = new HubConnectionBuilder()
    .withUrl(url!, { transport: HttpTransportType[name as keyof typeof HttpTransportType] })
    .configureLogging(LogLevel.None)
    .build();
  /** When each message was sent, by its number. */
  const sentMs: number[] = [];
  const tripsMs: number[] = [];
  connection.on('RecordLatency', ({ number }: { number: number }) => {
    tripsMs.push(performance.now() - sentMs[number]!);
  });
  await connection.start();
  const timer = setInterval(() => {
    const number = sentMs.push(performance.now()) - 1;
    connection.send('Echo', { number }).catch(() => undefined);
  }, intervalMs);
  process.stdout.write('ready\n');
  process.stdin.resume().once('end', () => {
    clearInterval(timer);
    process.stdout.write(`${JSON.stringify(tripsMs)}\n`, () => process.exit());
  });
}

void main(process.argv.slice(2));
