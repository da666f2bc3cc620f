/**
 * Diagnostic reports of Node hold the environment, and so the secrets of the run, unless this is set. Each thread has
 * its own switch since Node 22.13 and 23.3 (Node.js documentation, "Diagnostic report").
 */
export function keepEnvironmentOutOfReports(): void {
  // The types of Node 20 have no such switch.
  const report: object = process.report;
  if ('excludeEnv' in report) report.excludeEnv = true;
}
