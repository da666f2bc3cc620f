import type { PageName } from '../messages/panel';
import { startComparisonPage } from './comparisonPage';
import type { Host } from './element';
import { startOverviewPage } from './overviewPage';
import { startRunPage } from './page';

declare function acquireVsCodeApi(): Host;

const pages: Readonly<Record<PageName, (host: Host) => void>> = {
  run: startRunPage,
  comparison: startComparisonPage,
  overview: startOverviewPage,
};

// One script for all pages, since they share most code.
pages[document.body.dataset['page'] as PageName](acquireVsCodeApi());
