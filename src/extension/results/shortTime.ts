export interface TimeStyle {
  readonly now: Date;
  /** As in `en` or `zh-cn`. */
  readonly language: string;
  readonly seconds: boolean;
}

/** Local time of a run: side bar and tabs are narrow, so a day is named only when it is another one. */
export function shortTime(time: Date, { now, language, seconds }: TimeStyle): string {
  const today = time.toDateString() === now.toDateString();
  const thisYear = time.getFullYear() === now.getFullYear();
  return time.toLocaleString(language, {
    ...(!thisYear && { year: 'numeric' }),
    ...(!today && { month: 'short', day: 'numeric' }),
    hour: 'numeric',
    minute: '2-digit',
    ...(seconds && { second: '2-digit' }),
  });
}

/** Times of runs beside each other, with seconds only where two would look alike. */
export function shortTimes(times: readonly Date[], style: Omit<TimeStyle, 'seconds'>): string[] {
  const short = times.map((time) => shortTime(time, { ...style, seconds: false }));
  const alike = (text: string): boolean => short.indexOf(text) !== short.lastIndexOf(text);
  return times.map((time, at) =>
    alike(short[at]!) ? shortTime(time, { ...style, seconds: true }) : short[at]!,
  );
}
