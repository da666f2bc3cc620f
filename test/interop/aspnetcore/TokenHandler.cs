using System.Security.Claims;
using System.Text.Encodings.Web;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;

namespace BenchServer;

/// <summary>One bearer token that lets in, from the header or, as SignalR's browser clients send it, the query.</summary>
public sealed class TokenHandler(
    IOptionsMonitor<TokenOptions> options,
    ILoggerFactory logger,
    UrlEncoder encoder)
    : AuthenticationHandler<TokenOptions>(options, logger, encoder)
{
    public const string SchemeName = "Bearer";

    protected override Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        var header = Request.Headers.Authorization.ToString();
        var given = header.StartsWith("Bearer ", StringComparison.Ordinal)
            ? header["Bearer ".Length..]
            : Request.Query["access_token"].ToString();
        if (given.Length == 0)
        {
            return Task.FromResult(AuthenticateResult.NoResult());
        }
        if (given != Options.Token)
        {
            return Task.FromResult(AuthenticateResult.Fail("Wrong token."));
        }
        var user = new ClaimsPrincipal(new ClaimsIdentity([new(ClaimTypes.Name, "tester")], SchemeName));
        return Task.FromResult(AuthenticateResult.Success(new AuthenticationTicket(user, SchemeName)));
    }
}

public sealed class TokenOptions : AuthenticationSchemeOptions
{
    public string Token { get; set; } = "";
}
