import type { StoredRun } from '../../results/readResult';
import { exportersFor, type Exporter } from '../../session/export/exporters';
import type { Translate } from '../../base/translate';

/** A format to choose. */
export interface ExportItem {
  readonly label: string;
  readonly description: string;
  readonly exporter: Exporter;
}

/** The formats a stored run can be exported in. */
export const exportItems = (run: StoredRun, t: Translate): ExportItem[] =>
  exportersFor(run).map((exporter) => ({
    label: exporter.name,
    description: t(exporter.words),
    exporter,
  }));
