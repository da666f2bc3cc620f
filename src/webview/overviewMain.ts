import type { FromOverviewPanel, ToOverviewPanel } from '../protocol/overviewPanel';
import { createOverviewPage } from './overviewPage';
import { onThemeChange } from './themeChange';

interface OverviewHost {
  postMessage(message: FromOverviewPanel): void;
}

declare function acquireVsCodeApi(): OverviewHost;

const host = acquireVsCodeApi();
const page = createOverviewPage(document.body, (message) => host.postMessage(message));

window.addEventListener('message', ({ data }: MessageEvent<ToOverviewPanel>) => page.show(data));
onThemeChange(() => page.redraw());
host.postMessage({ type: 'ready' });
