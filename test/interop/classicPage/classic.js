// The official client of ASP.NET SignalR for browsers, led as the one of .NET is (../classic/Program.cs): `lead` takes an
// order, and `say`, which the test brings, gets each event.
const clients = {};
const states = { 0: 'Connecting', 1: 'Connected', 2: 'Reconnecting', 4: 'Disconnected' };

const orders = {
  open({ name, url, transport }) {
    const split = url.lastIndexOf('/');
    const connection = $.hubConnection(url.slice(0, split));
    const hub = connection.createHubProxy(url.slice(split + 1));
    for (const callback of ['RecordLatency', 'OnConnected', 'ConnectionId', 'JoinGroup'])
      hub.on(callback, (...args) => say({ name, what: callback, value: args }));
    connection.stateChanged(({ newState }) =>
      say({ name, what: 'state', value: states[newState] }),
    );
    connection.connectionSlow(() => say({ name, what: 'slow', value: null }));
    connection.error(({ message }) => say({ name, what: 'error', value: message }));
    clients[name] = { connection, hub };
    connection
      .start({ transport })
      .done(() => {
        const { id: ConnectionId, transport: chosen } = connection;
        say({ name, what: 'started', value: { Name: chosen.name, ConnectionId } });
      })
      .fail(({ message }) => say({ name, what: 'failed', value: message }));
  },
  invoke({ name, id, method, args }) {
    const { hub } = clients[name];
    hub
      .invoke(method, ...args)
      .done((result = null) => say({ name, what: 'result', value: { id, of: { result } } }))
      .fail(({ message }) => say({ name, what: 'result', value: { id, of: { error: message } } }));
  },
  stop({ name }) {
    clients[name].connection.stop();
    say({ name, what: 'stopped', value: null });
  },
};

window.lead = (order) => orders[order.do](order);
