import type { FromComparisonPanel, ToComparisonPanel } from '../protocol/comparisonPanel';
import { comparisonStrings, type ComparisonStrings } from '../protocol/comparisonStrings';
import { createComparisonPage } from './comparisonPage';
import { onThemeChange } from './themeChange';

interface ComparisonHost {
  postMessage(message: FromComparisonPanel): void;
}

declare function acquireVsCodeApi(): ComparisonHost;

const host = acquireVsCodeApi();
const page = createComparisonPage(document.body, (message) => host.postMessage(message));

window.addEventListener('message', ({ data }: MessageEvent<ToComparisonPanel>) => {
  const strings: ComparisonStrings = { ...comparisonStrings, ...data.strings };
  page.show(data.shown, strings);
});
onThemeChange(() => page.redraw());
host.postMessage({ type: 'ready' });
