import type { PageName } from '../messages/panel';
import { startComparison } from './comparisonPage';
import { startOverview } from './overviewPage';
import { startRunPage } from './page';

const pages: Readonly<Record<PageName, () => void>> = {
  run: startRunPage,
  comparison: startComparison,
  overview: startOverview,
};

// They share nearly all they have, so they are one script; its page says which of them it is.
pages[document.body.dataset['page'] as PageName]();
