/** Reads a colour that panel.css takes from the editor's theme, such as `--line-p50`, for drawing. */
export function themeColour(name: string): string {
  return getComputedStyle(document.body).getPropertyValue(name).trim() || 'currentcolor';
}

/** Font of the axes, as a canvas wants it. */
export function axisFont(): string {
  const { fontFamily } = getComputedStyle(document.body);
  return `11px ${fontFamily}`;
}

/** Calls back when the editor's theme has changed. */
export function onThemeChange(changed: () => void): void {
  const observer = new MutationObserver(changed);
  const attributes = {
    attributes: true,
    attributeFilter: ['class', 'style', 'data-vscode-theme-id'],
  };
  observer.observe(document.body, attributes);
  observer.observe(document.documentElement, attributes);
}
