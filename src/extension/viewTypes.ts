/** Type of the editor of `result.json`, as in the manifest. */
export const resultEditorType = 'signalrBenchmark.result';
/** Type of the panel of a run; the manifest waits for it to bring panels back. */
export const runPanelViewType = 'signalrBenchmark.run';
