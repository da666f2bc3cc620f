/** Calls back when the editor has another theme: what is drawn must be drawn anew. */
export function onThemeChange(changed: () => void): void {
  const observer = new MutationObserver(changed);
  const attributes = {
    attributes: true,
    attributeFilter: ['class', 'style', 'data-vscode-theme-id'],
  };
  observer.observe(document.body, attributes);
  observer.observe(document.documentElement, attributes);
}
