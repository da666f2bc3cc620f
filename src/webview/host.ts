/** The editor's side of a page. */
declare function acquireVsCodeApi(): {
  postMessage(message: { readonly type: string }): void;
  setState(state: { readonly runId: string } | { readonly folders: readonly string[] }): void;
};

export const host = acquireVsCodeApi();

/** Shows what the editor sends from now on; what is drawn is drawn anew when the editor has another theme. */
export function startPage(page: { redraw(): void }, show: (message: never) => void): void {
  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => show(data as never));
  const themes = new MutationObserver(() => page.redraw());
  const watched = { attributeFilter: ['class', 'style', 'data-vscode-theme-id'] };
  themes.observe(document.body, watched);
  themes.observe(document.documentElement, watched);
  host.postMessage({ type: 'ready' });
}
