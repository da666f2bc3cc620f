/** The package has no types. */
declare module 'parse-prometheus-text-format' {
  interface Family {
    readonly name: string;
    /** `COUNTER`, `GAUGE`, `UNTYPED`, `HISTOGRAM` or `SUMMARY`. */
    readonly type: string;
    readonly metrics: readonly {
      readonly value?: string;
      readonly labels?: Readonly<Record<string, string>>;
    }[];
  }
  export default function parsePrometheusTextFormat(text: string): readonly Family[];
}
