/** What is planted, by its place; none is part of another, and all look alike. */
export class Planted {
  readonly values = new Map<string, string>();

  constructor(private readonly mark: string) {}

  at(place: string): string {
    const value = `Zq${this.mark}${String(this.values.size).padStart(2, '0')}+/${place.replace(/\W/g, '')}=pl4nt`;
    this.values.set(place, value);
    return value;
  }

  /** Where one of them stands, in any form. */
  foundIn(text: string): string[] {
    return [...this.values]
      .filter(([, value]) => formsOf(value).some((form) => text.includes(form)))
      .map(([place]) => place);
  }
}

/** As it is, in URLs, in JSON, in hexadecimal, and inside of base64 text, wherever that begins. */
function formsOf(value: string): string[] {
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(value)]);
    // The first and the last letters hold bits of what stands beside it.
    return (['base64', 'base64url'] as const).map((form) => whole.toString(form).slice(4, -4));
  });
  const hex = Buffer.from(value).toString('hex');
  const encoded = encodeURIComponent(value);
  return [
    value,
    encoded,
    encoded.toLowerCase(),
    JSON.stringify(value).slice(1, -1),
    hex,
    ...inBase64,
  ];
}
