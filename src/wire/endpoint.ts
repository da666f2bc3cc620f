/** Everything a connection needs to get in, with all references resolved. Never stored, never shown. */
export interface Endpoint {
  /** `http:` or `https:` hub URLs; connection i uses URL i mod count. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly accessToken?: string;
  /** PEM text of additional certificate authorities. */
  readonly ca?: string;
  readonly insecureTls: boolean;
  readonly skipNegotiation: boolean;
}

/** A URL as it may be shown and stored: no user info, no query, no fragment. */
export function shownUrl(url: string): string {
  try {
    const parsed = new URL(url);
    return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  } catch {
    return '(not a URL)';
  }
}
