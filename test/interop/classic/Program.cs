// The official client of ASP.NET SignalR, led by lines on standard input; each line that it prints is an event in JSON.
//   {"do":"open","name":…,"url":…,"transport":…}   {"do":"invoke","name":…,"id":…,"method":…,"args":[…]}
//   {"do":"stop","name":…}
using System.Collections.Concurrent;
using Microsoft.AspNet.SignalR.Client;
using Microsoft.AspNet.SignalR.Client.Transports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

var clients = new ConcurrentDictionary<string, (HubConnection Connection, IHubProxy Hub)>();

void Say(string name, string what, object? value)
{
    var line = JsonConvert.SerializeObject(new { name, what, value });
    lock (clients) Console.WriteLine(line);
}

async Task Open(string name, string url, string transport)
{
    var split = url.LastIndexOf('/');
    var connection = new HubConnection(url[..split]);
    var hub = connection.CreateHubProxy(url[(split + 1)..]);
    foreach (var callback in new[] { "RecordLatency", "OnConnected", "ConnectionId", "JoinGroup", "LeaveGroup", "Measure" })
        hub.Subscribe(callback).Received += arguments => Say(name, callback, arguments);
    connection.StateChanged += change => Say(name, "state", change.NewState.ToString());
    connection.ConnectionSlow += () => Say(name, "slow", null);
    connection.Error += error => Say(name, "error", error.GetBaseException().Message);
    clients[name] = (connection, hub);
    IClientTransport chosen = transport switch
    {
        "webSockets" => new WebSocketTransport(),
        "serverSentEvents" => new ServerSentEventsTransport(),
        "longPolling" => new LongPollingTransport(),
        _ => new AutoTransport(new Microsoft.AspNet.SignalR.Client.Http.DefaultHttpClient()),
    };
    try
    {
        await connection.Start(chosen);
        Say(name, "started", new { connection.Transport.Name, connection.ConnectionId });
    }
    catch (Exception error)
    {
        Say(name, "failed", error.GetBaseException().Message);
    }
}

async Task Invoke(string name, string id, string method, object[] arguments)
{
    var (_, hub) = clients[name];
    try
    {
        var result = await hub.Invoke<JToken?>(method, arguments);
        Say(name, "result", new { id, of = new { result } });
    }
    catch (Exception error)
    {
        Say(name, "result", new { id, of = new { error = error.GetBaseException().Message } });
    }
}

string? line;
while ((line = Console.ReadLine()) is not null)
{
    var order = JObject.Parse(line);
    string Text(string key) => (string)order[key]!;
    var name = Text("name");
    switch (Text("do"))
    {
        case "open":
            _ = Task.Run(() => Open(name, Text("url"), Text("transport")));
            break;
        case "invoke":
            _ = Invoke(name, Text("id"), Text("method"), order["args"]!.ToArray<object>());
            break;
        case "stop":
            _ = Task.Run(() => { clients[name].Connection.Stop(); Say(name, "stopped", null); });
            break;
    }
}
