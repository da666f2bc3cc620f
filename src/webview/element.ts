/**
 * A new element, such as `element('p.quiet', { role: 'status' }, text)`: what stands behind the dot is its class, an
 * object its attributes, anything else its content. Texts are set as texts, never as markup.
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

/** Changes the text only where it differs, so that a selection in it stays. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
