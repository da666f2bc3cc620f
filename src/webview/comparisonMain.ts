import { type ToComparisonPanel, comparisonStrings } from '../protocol/comparisonPanel';
import { createComparisonPage } from './comparisonPage';
import { host, startPage } from './host';

const page = createComparisonPage(document.body, (message) => host.postMessage(message));

startPage(page, ({ shown, strings, folders }: ToComparisonPanel) => {
  host.setState({ folders });
  page.show(shown, { ...comparisonStrings, ...strings });
});
