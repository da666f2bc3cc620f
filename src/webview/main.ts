import type { FromPanel, ToPanel } from '../protocol/panel';
import { createPage } from './page';
import { initialState, reduce } from './panelState';
import { onThemeChange } from './themeChange';

/** What the editor gives a panel to speak with it. */
interface PanelHost {
  postMessage(message: FromPanel): void;
  setState(state: { readonly runId: string }): void;
}

declare function acquireVsCodeApi(): PanelHost;

const host = acquireVsCodeApi();
const page = createPage(document.body, (message) => host.postMessage(message));
let state = initialState;
let drawing = false;

/** Several messages before the next frame are drawn once. */
function draw(): void {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    page.show(state);
  });
}

window.addEventListener('message', ({ data }: MessageEvent<ToPanel>) => {
  state = reduce(state, data);
  // By this the editor finds the run again after a reload of the window.
  if (data.type === 'hydrate') host.setState({ runId: data.run.id });
  draw();
});
onThemeChange(() => page.redraw());
draw();
host.postMessage({ type: 'ready' });
