// A small chat as people write one, with the client of the documentation. Of the address of the page: `hub`, `room`,
// `name`, `transport` and `protocol` of the client, `plain` for a hub that knows neither presence nor typing, `secret` for
// an access token and a header of the application, `later` for a page that connects when its visit begins.
const asked = new URLSearchParams(location.search);
const room = asked.get('room');
const author = asked.get('name');
const isPlain = asked.has('plain');
const secret = asked.get('secret');
const element = (id) => document.getElementById(id);

const builder = new signalR.HubConnectionBuilder()
  .withUrl(asked.get('hub') ?? '/chat', {
    transport: signalR.HttpTransportType[asked.get('transport') ?? 'WebSockets'],
    ...(secret !== null && { accessTokenFactory: () => secret, headers: { 'X-Api-Key': secret } }),
  })
  .configureLogging(signalR.LogLevel.None);
if (asked.get('protocol') === 'messagepack')
  builder.withHubProtocol(new signalR.protocols.msgpack.MessagePackHubProtocol());
const connection = builder.build();

let people = 0;
let isTyping = false;
/** What the person did last, as far as the hub has to answer it. */
let done = Promise.resolve();
function showPeople(by = 0) {
  people += by;
  element('people').textContent = `${people} in ${room}`;
}

connection.on('MessagePosted', ({ author: from, text }) => {
  const line = document.createElement('li');
  line.textContent = `${from}: ${text}`;
  element('messages').append(line);
  showPeople();
});
connection.on('Joined', () => showPeople(1));
connection.on('Left', () => showPeople(-1));
connection.on('Typing', () => (element('people').textContent = 'Somebody is typing …'));

element('text').addEventListener('input', () => {
  if (!isTyping && !isPlain) done = connection.send('Typing', room);
  isTyping = true;
});
element('form').addEventListener('submit', (event) => {
  event.preventDefault();
  isTyping = false;
  done = connection.invoke('SendMessage', room, { author, text: element('text').value });
  element('text').value = '';
});
element('history').addEventListener('click', () => {
  done = (async () => {
    const [latest] = await connection.invoke('GetHistory', room, 20);
    await connection.invoke('Acknowledge', latest.id);
  })();
});
element('leave').addEventListener('click', () => (done = connection.invoke('LeaveRoom', room)));

async function connect() {
  await connection.start();
  await connection.invoke('JoinRoom', room);
  if (!isPlain) people = await connection.invoke('Present', room);
  showPeople();
}
let ready = asked.has('later') ? undefined : connect();

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Does what a person does on the page, and ends the connection. Before that the person reads for a while, longer
 * than all the rest took. `paces` are how much longer than `everyMs` each text takes in turn.
 *
 * @returns how many messages were shown
 */
globalThis.visit = async ({ texts, everyMs, paces = [1] }) => {
  const startedMs = performance.now();
  await (ready ??= connect());
  await pause(everyMs);
  for (const [at, text] of texts.entries()) {
    const thisMs = everyMs * paces[at % paces.length];
    element('text').value = text;
    element('text').dispatchEvent(new Event('input'));
    await done;
    await pause(thisMs / 3);
    element('form').requestSubmit();
    await done;
    await pause((thisMs * 2) / 3);
  }
  element('history').click();
  await done;
  await pause(1.8 * (performance.now() - startedMs));
  element('leave').click();
  await done;
  await pause(30);
  await connection.stop();
  return element('messages').childElementCount;
};
