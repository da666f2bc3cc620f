import { callbacks, type HubDialect } from '../base/message';
import { hubMethods } from './registry';
import type { HubMethod } from './useCase';
import type { StreamDirection } from './streams';

/** As in the scenario examples. */
const hubPath = '/signalrbench';

/** C# for a hub that answers every use case of a dialect; it needs the shared framework of ASP.NET Core alone. */
export function hubCode(dialect: HubDialect): string {
  return dialect === 'measure' ? measureHub() : dictionaryHub();
}

function measureHub(): string {
  const members = hubMethods().flatMap(({ measureName, action }) =>
    measureName === undefined ? [] : measureMember(measureName, action),
  );
  return `// Program.cs, before app.Run()
app.MapHub<BenchHub>("${hubPath}");

// BenchHub.cs
using Microsoft.AspNetCore.SignalR;

public sealed class BenchHub : Hub
{
    private const string Callback = "${callbacks.measure}";

${members.join('\n')}}
`;
}

function measureMember(name: string, action: HubMethod['action']): string {
  switch (action.kind) {
    case 'deliver': {
      const receiver = 'receiverKey' in action ? receiverNames[action.to] : '';
      const first = receiver === '' ? '' : `string ${receiver}, `;
      return `    public Task ${name}(${first}long ticks, string payload) =>
        Clients.${clients(action.to, receiver)}.SendAsync(Callback, ticks, payload);
`;
    }
    case 'membership':
      return `    public Task ${name}(string group) =>
        Groups.${memberships[action.change]}(Context.ConnectionId, group);
`;
    default:
      throw new Error(`the dialect measure has no method that does ${action.kind}`);
  }
}

const receiverNames = { client: 'id', group: 'group' } as const;
const memberships = { join: 'AddToGroupAsync', leave: 'RemoveFromGroupAsync' } as const;

function clients(to: 'caller' | 'everyone' | 'client' | 'group', receiver: string): string {
  switch (to) {
    case 'caller':
      return 'Caller';
    case 'everyone':
      return 'All';
    case 'client':
      return `Client(${receiver})`;
    case 'group':
      return `Group(${receiver})`;
  }
}

function dictionaryHub(): string {
  return `// Program.cs, before builder.Build()
builder.Services.AddSignalR(options =>
{
    // The default of 32 KB closes connections that send larger messages.
    options.MaximumReceiveMessageSize = 1024 * 1024;
});

// Program.cs, before app.Run()
app.MapHub<BenchHub>("${hubPath}");

// BenchHub.cs
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.SignalR;

/// <summary>Hands the messages of a benchmark back to those who are to measure them.</summary>
public sealed class BenchHub : Hub
{
    private const string Callback = "${callbacks.recordLatency}";

    public override async Task OnConnectedAsync()
    {
        await base.OnConnectedAsync();
        await Clients.Caller.SendAsync("OnConnected", Context.ConnectionId);
    }

${hubMethods().map(dictionaryMember).join('\n')}
    private static string TextOf(IDictionary<string, object> message, string key) =>
        message[key].ToString() ?? throw new HubException($"{key} is empty");
}
`;
}

function dictionaryMember({ name, action }: HubMethod): string {
  switch (action.kind) {
    case 'deliver': {
      const receiver = 'receiverKey' in action ? `TextOf(message, "${action.receiverKey}")` : '';
      return `    public Task ${name}(IDictionary<string, object> message) =>
        Clients.${clients(action.to, receiver)}.SendAsync(Callback, message);
`;
    }
    case 'membership':
      return `    public async Task ${name}(string groupName)
    {
        await Groups.${memberships[action.change]}(Context.ConnectionId, groupName);
        await Clients.Caller.SendAsync("${name}");
    }
`;
    case 'id':
      return action.by === 'result'
        ? `    public string ${name}() => Context.ConnectionId;
`
        : `    public Task ${name}() =>
        Clients.Caller.SendAsync("${name}", Context.ConnectionId);
`;
    case 'stream':
      return streamMembers[action.direction](name);
  }
}

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
      const whom = classicClients(
        action.to,
        isMeasure ? 'receiver' : `message["${key}"].ToString()`,
      );
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

function classicClients(to: 'caller' | 'everyone' | 'client' | 'group', receiver: string): string {
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
