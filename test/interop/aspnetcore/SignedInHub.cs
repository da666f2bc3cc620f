using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.SignalR;

namespace BenchServer;

/// <summary>A hub for users who are signed in, which knows who they are.</summary>
[Authorize]
public sealed class SignedInHub : Hub
{
    public string? WhoAmI() => Context.UserIdentifier;

    public void Confirm(string user)
    {
        if (user != Context.UserIdentifier) throw new HubException($"{user} is {Context.UserIdentifier}");
    }
}
