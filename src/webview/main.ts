import type { PageName } from '../messages/panel';
import { startComparison } from './comparisonPage';
import type { Host } from './element';
import { startOverview } from './overviewPage';
import { startRunPage } from './page';

declare function acquireVsCodeApi(): Host;

const pages: Readonly<Record<PageName, (host: Host) => void>> = {
  run: startRunPage,
  comparison: startComparison,
  overview: startOverview,
};

// One script for all pages, since they share most code.
pages[document.body.dataset['page'] as PageName](acquireVsCodeApi());
