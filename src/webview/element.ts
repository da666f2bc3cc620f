/**
 * A new element, such as `element('p.quiet', { role: 'status' }, text)`: tag and class, attributes, content. Texts
 * are never parsed as markup.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  name: Tag | `${Tag}.${string}`,
  ...parts: readonly (Node | string | Readonly<Record<string, string>>)[]
): HTMLElementTagNameMap[Tag] {
  const [tag, className] = name.split('.') as [Tag, string?];
  const made = document.createElement(tag);
  if (className !== undefined) made.className = className;
  for (const part of parts) {
    if (typeof part === 'string' || part instanceof Node) made.append(part);
    else setAttributes(made, part);
  }
  return made;
}

export function setAttributes(node: Element, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

/** Leaves equal text alone, so that a selection in it survives. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** The editor's side of a page. */
export interface Host {
  postMessage(message: { readonly type: string }): void;
  setState(state: { readonly runId: string } | { readonly folders: readonly string[] }): void;
}

/** Connects a page with the editor: shows its messages, and redraws on theme changes. */
export function startPage(
  host: Host,
  page: { redraw(): void },
  show: (message: never) => void,
): void {
  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => show(data as never));
  const themes = new MutationObserver(() => page.redraw());
  const watched = { attributeFilter: ['class', 'style', 'data-vscode-theme-id'] };
  themes.observe(document.body, watched);
  themes.observe(document.documentElement, watched);
  host.postMessage({ type: 'ready' });
}
