using System.Collections.Concurrent;
using System.Security.Claims;
using System.Security.Cryptography;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Extensions.Options;

namespace BenchServer;

/// <summary>
/// JSON web tokens signed by HS256, checked and handed on as the JWT bearer package of ASP.NET Core does it, which is not
/// part of the shared framework: signature, issuer, audience, expiry, `sub` as the user.
/// </summary>
public sealed class WebTokenHandler(
    IOptionsMonitor<WebTokenOptions> options,
    ILoggerFactory logger,
    UrlEncoder encoder)
    : AuthenticationHandler<WebTokenOptions>(options, logger, encoder)
{
    public const string SchemeName = "WebToken";

    /// <summary>What has let somebody in, once for each signature.</summary>
    public static readonly ConcurrentDictionary<string, string> Tokens = new();

    protected override Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        var header = Request.Headers.Authorization.ToString();
        if (!header.StartsWith("Bearer ", StringComparison.Ordinal))
        {
            return Task.FromResult(AuthenticateResult.NoResult());
        }
        return Task.FromResult(Check(header["Bearer ".Length..].Split('.')));
    }

    private AuthenticateResult Check(string[] parts)
    {
        if (parts.Length != 3 || Member(parts[0], "alg") != "HS256")
        {
            return AuthenticateResult.Fail("No token that is signed by HS256.");
        }
        var signed = Encoding.ASCII.GetBytes($"{parts[0]}.{parts[1]}");
        var wanted = HMACSHA256.HashData(Encoding.UTF8.GetBytes(Options.Key), signed);
        if (!CryptographicOperations.FixedTimeEquals(wanted, WebEncoders.Base64UrlDecode(parts[2])))
        {
            return AuthenticateResult.Fail("Another key.");
        }
        var expires = DateTimeOffset.FromUnixTimeSeconds(long.Parse(Member(parts[1], "exp")!));
        if (expires <= DateTimeOffset.UtcNow)
        {
            return AuthenticateResult.Fail("Expired.");
        }
        if (Member(parts[1], "iss") != Options.Issuer || Member(parts[1], "aud") != Options.Audience)
        {
            return AuthenticateResult.Fail("Of somebody else, or for somebody else.");
        }
        var sub = Member(parts[1], "sub")!;
        Tokens[parts[2]] = sub;
        var user = new ClaimsPrincipal(new ClaimsIdentity([new(ClaimTypes.NameIdentifier, sub)], SchemeName));
        // Connections are closed by it, where the hub's options say so.
        var properties = new AuthenticationProperties { ExpiresUtc = expires };
        return AuthenticateResult.Success(new AuthenticationTicket(user, properties, SchemeName));
    }

    private static string? Member(string part, string name)
    {
        using var json = JsonDocument.Parse(WebEncoders.Base64UrlDecode(part));
        return json.RootElement.TryGetProperty(name, out var value) ? value.ToString() : null;
    }
}

public sealed class WebTokenOptions : AuthenticationSchemeOptions
{
    public string Key { get; set; } = "";
    public string? Issuer { get; set; }
    public string? Audience { get; set; }
}
