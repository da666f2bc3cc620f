import type { ToOverviewPanel } from '../protocol/overviewPanel';
import { host, startPage } from './host';
import { createOverviewPage } from './overviewPage';

const page = createOverviewPage(document.body, (message) => host.postMessage(message));

startPage(page, (message: ToOverviewPanel) => page.show(message));
