/** It comes without types: what is used of it. */
declare module 'parse-prometheus-text-format' {
  interface Family {
    readonly name: string;
    /** `COUNTER`, `GAUGE`, `UNTYPED`, `HISTOGRAM` or `SUMMARY`. */
    readonly type: string;
    readonly metrics: readonly {
      /** Absent in histograms and summaries. */
      readonly value?: string;
      readonly labels?: Readonly<Record<string, string>>;
    }[];
  }
  export default function parsePrometheusTextFormat(text: string): readonly Family[];
}
