/** Formats a stored run can be written in. */
export const exportFormats = ['json', 'csv', 'md', 'counters'] as const;
export type ExportFormat = (typeof exportFormats)[number];
