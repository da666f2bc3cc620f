import { callbacks, type HubDialect } from '../base/message';
import { hubMethods } from './registry';
import type { HubMethod } from './useCase';
import type { StreamDirection } from './streams';

/** C# for a hub that answers every use case of a dialect; it needs the shared framework of ASP.NET Core alone. */
export function hubCode(dialect: HubDialect): string {
  const members = membersOf({ dialect, classic: false });
  // As in the scenario examples.
  const map = `// Program.cs, before app.Run()
app.MapHub<BenchHub>("/signalrbench");

// BenchHub.cs
`;
  if (dialect === 'measure')
    return `${map}using Microsoft.AspNetCore.SignalR;

public sealed class BenchHub : Hub
{
${members}}
`;
  return `// Program.cs, before builder.Build()
builder.Services.AddSignalR(options =>
{
    // The default of 32 KB closes connections that send larger messages.
    options.MaximumReceiveMessageSize = 1024 * 1024;
});

${map}using System.Diagnostics;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

/// <summary>Hands the messages of a benchmark back to those who are to measure them.</summary>
public sealed class BenchHub : Hub
{
    public override async Task OnConnectedAsync()
    {
        await base.OnConnectedAsync();
        await Clients.Caller.SendAsync("OnConnected", Context.ConnectionId);
    }

${members}
    private static string TextOf(IDictionary<string, object> message, string key) =>
        message[key].ToString() ?? throw new HubException($"{key} is empty");
}
`;
}

/** C# for a hub of ASP.NET SignalR that answers every use case of a dialect but streams, which it does not have. */
export function classicHubCode(dialect: HubDialect): string {
  const greeting = `    public override async Task OnConnected()
    {
        await base.OnConnected();
        await Clients.Caller.OnConnected(Context.ConnectionId);
    }

`;
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
[HubName("signalrbench")]
public class BenchHub : Hub
{
${dialect === 'measure' ? '' : greeting}${membersOf({ dialect, classic: true })}}
`;
}

interface Hub {
  readonly dialect: HubDialect;
  /** Of ASP.NET SignalR. */
  readonly classic: boolean;
}

const membersOf = (hub: Hub): string =>
  hubMethods()
    .flatMap((method) => memberOf(method, hub) ?? [])
    .join('\n');

function memberOf({ name, measureName, action }: HubMethod, hub: Hub): string | undefined {
  const { dialect, classic } = hub;
  const measures = dialect === 'measure';
  const method = measures ? measureName : name;
  if (method === undefined) return undefined;
  const call = (client: string, called: string, args = ''): string =>
    classic
      ? `${client}.${called}(${args})`
      : `${client}.SendAsync("${called}"${args === '' ? '' : `, ${args}`})`;
  switch (action.kind) {
    case 'deliver': {
      const key = 'receiverKey' in action ? action.receiverKey : undefined;
      const text = classic ? `message["${key}"].ToString()` : `TextOf(message, "${key}")`;
      const client = clientsOf[action.to](measures ? 'receiver' : text);
      const receiver = key === undefined ? '' : 'string receiver, ';
      return measures
        ? `    public Task ${method}(${receiver}long ticks, string payload) =>
        ${call(client, callbacks.measure, 'ticks, payload')};
`
        : `    public Task ${method}(IDictionary<string, object> message) =>
        ${call(client, callbacks.recordLatency, 'message')};
`;
    }
    case 'membership': {
      const verb = action.change === 'join' ? 'Add' : 'Remove';
      const suffix = { Add: 'ToGroupAsync', Remove: 'FromGroupAsync' }[verb];
      const change = `Groups.${verb}${classic ? '' : suffix}(Context.ConnectionId, group)`;
      return measures
        ? `    public Task ${method}(string group) =>
        ${change};
`
        : `    public async Task ${method}(string group)
    {
        await ${change};
        await ${call('Clients.Caller', method)};
    }
`;
    }
    case 'id':
      return action.by === 'result'
        ? `    public string ${method}() => Context.ConnectionId;
`
        : `    public Task ${method}() =>
        ${call('Clients.Caller', method, 'Context.ConnectionId')};
`;
    case 'stream':
      return classic ? undefined : streamMembers[action.direction](method);
  }
}

const clientsOf = {
  caller: () => 'Clients.Caller',
  everyone: () => 'Clients.All',
  client: (receiver: string) => `Clients.Client(${receiver})`,
  group: (receiver: string) => `Clients.Group(${receiver})`,
};

const streamMembers: Readonly<Record<StreamDirection, (name: string) => string>> = {
  both: (name) => `    public async IAsyncEnumerable<IDictionary<string, object>> ${name}(
        IAsyncEnumerable<IDictionary<string, object>> items,
        int delayMs,
        [EnumeratorCancellation] CancellationToken cancellation)
    {
        await foreach (var item in items.WithCancellation(cancellation))
        {
            if (delayMs > 0)
            {
                await Task.Delay(delayMs, cancellation);
            }
            yield return item;
        }
    }
`,
  upload: (
    name,
  ) => `    public async Task<int> ${name}(IAsyncEnumerable<IDictionary<string, object>> items)
    {
        var count = 0;
        await foreach (var _ in items)
        {
            count++;
        }
        return count;
    }
`,
  download: (name) => `    public async IAsyncEnumerable<IDictionary<string, object>> ${name}(
        IDictionary<string, object> message,
        int count,
        int delayMs,
        [EnumeratorCancellation] CancellationToken cancellation)
    {
        var clock = Stopwatch.StartNew();
        for (var number = 0; number < count; number++)
        {
            // Each item has its own time, however late the one before it was.
            var waitMs = (long)number * delayMs - clock.ElapsedMilliseconds;
            if (waitMs > 0)
            {
                await Task.Delay((int)waitMs, cancellation);
            }
            var item = new Dictionary<string, object> { ["bench.Item"] = number.ToString("x8") };
            foreach (var (key, value) in message)
            {
                item[key] = value;
            }
            yield return item;
        }
    }
`,
};
