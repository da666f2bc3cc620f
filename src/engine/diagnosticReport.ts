/**
 * Diagnostic reports of Node, where somebody has turned them on, have the environment by default, and with it the secrets of the
 * run. Each thread has a switch of its own, since Node 22.13 and 23.3 (Node.js documentation, "Diagnostic report").
 */
export function keepEnvironmentOutOfReports(): void {
  // The types are those of Node 20, which has no such switch.
  const report: object = process.report;
  if ('excludeEnv' in report) report.excludeEnv = true;
}
