import type { ToPanel } from '../protocol/panel';
import { host, startPage } from './host';
import { createPage } from './page';
import { initialState, reduce } from './panelState';

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

draw();
startPage(page, (message: ToPanel) => {
  state = reduce(state, message);
  // By this the editor finds the run again after a reload of the window.
  if (message.type === 'hydrate') host.setState({ runId: message.run.id });
  draw();
});
