import { callbacks, type HubDialect } from '../base/message';
import { hubMethods } from './registry';
import type { HubMethod } from './useCase';

/** As in the scenario examples, where it is the last part of the target. */
const hubName = 'signalrbench';

/** C# for a hub of ASP.NET SignalR that answers every use case of a dialect but streams, which it does not have. */
export function classicHubCode(dialect: HubDialect): string {
  const isMeasure = dialect === 'measure';
  const members = hubMethods().flatMap((method) => {
    const name = isMeasure ? method.measureName : method.name;
    const member = name === undefined ? undefined : memberOf(name, method.action, isMeasure);
    return member === undefined ? [] : [member];
  });
  return `// Startup.cs, in Configuration(IAppBuilder app)
// The default of 64 KB closes web sockets that send larger messages.
GlobalHost.Configuration.MaxIncomingWebSocketMessageSize = 1024 * 1024;
app.MapSignalR(new HubConfiguration { EnableDetailedErrors = true });

// BenchHub.cs, with the package Microsoft.AspNet.SignalR
using System.Collections.Generic;
using System.Threading.Tasks;
using Microsoft.AspNet.SignalR;
using Microsoft.AspNet.SignalR.Hubs;

/// <summary>Hands the messages of a benchmark back to those who are to measure them.</summary>
[HubName("${hubName}")]
public class BenchHub : Hub
{
${[...(isMeasure ? [] : [greeting]), ...members].join('\n')}}
`;
}

const greeting = `    public override async Task OnConnected()
    {
        await base.OnConnected();
        await Clients.Caller.OnConnected(Context.ConnectionId);
    }
`;

function memberOf(
  name: string,
  action: HubMethod['action'],
  isMeasure: boolean,
): string | undefined {
  switch (action.kind) {
    case 'deliver': {
      const key = 'receiverKey' in action ? action.receiverKey : undefined;
      const whom = clients(action.to, isMeasure ? 'receiver' : `message["${key}"].ToString()`);
      if (!isMeasure)
        return `    public Task ${name}(IDictionary<string, object> message) =>
        ${whom}.${callbacks.recordLatency}(message);
`;
      const first = key === undefined ? '' : 'string receiver, ';
      return `    public Task ${name}(${first}long ticks, string payload) =>
        ${whom}.${callbacks.measure}(ticks, payload);
`;
    }
    case 'membership': {
      const change = `Groups.${action.change === 'join' ? 'Add' : 'Remove'}(Context.ConnectionId, group)`;
      return isMeasure
        ? `    public Task ${name}(string group) =>
        ${change};
`
        : `    public async Task ${name}(string group)
    {
        await ${change};
        await Clients.Caller.${name}();
    }
`;
    }
    case 'id':
      return action.by === 'result'
        ? `    public string ${name}() => Context.ConnectionId;
`
        : `    public Task ${name}() =>
        Clients.Caller.${name}(Context.ConnectionId);
`;
    case 'stream':
      return undefined;
  }
}

function clients(to: 'caller' | 'everyone' | 'client' | 'group', receiver: string): string {
  switch (to) {
    case 'caller':
      return 'Clients.Caller';
    case 'everyone':
      return 'Clients.All';
    case 'client':
      return `Clients.Client(${receiver})`;
    case 'group':
      return `Clients.Group(${receiver})`;
  }
}
