/** Attributes and contents of a new element. Texts are set as texts, never as markup. */
export interface ElementParts {
  readonly class?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly (Node | string)[];
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  parts: ElementParts = {},
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (parts.class !== undefined) made.className = parts.class;
  for (const [name, value] of Object.entries(parts.attributes ?? {})) {
    made.setAttribute(name, value);
  }
  if (parts.text !== undefined) made.textContent = parts.text;
  made.append(...(parts.children ?? []));
  return made;
}

/** Changes the text only where it differs, so that a selection in it stays. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
