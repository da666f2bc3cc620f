/** What the page of the panel is made of. Addresses are those the webview may load from. */
export interface PanelPage {
  readonly title: string;
  /** Language of its texts, e.g. `en`. */
  readonly language: string;
  readonly scriptUri: string;
  readonly styleUris: readonly string[];
  /** The webview's own source for the page's policy. */
  readonly cspSource: string;
  /** Made for this page only. */
  readonly nonce: string;
}

/**
 * The page: one script that carries the nonce, style sheets from the extension, nothing else. No inline
 * style or script runs, and nothing is loaded from a network.
 */
export function panelHtml(page: PanelPage): string {
  const { title, language, scriptUri, styleUris, cspSource, nonce } = page;
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    '<!doctype html>',
    `<html lang="${escaped(language)}">`,
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    ...styleUris.map((uri) => `<link rel="stylesheet" href="${escaped(uri)}">`),
    `<title>${escaped(title)}</title>`,
    '</head>',
    '<body>',
    `<script nonce="${escaped(nonce)}" src="${escaped(scriptUri)}"></script>`,
    '</body>',
    '</html>',
  ].join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}
