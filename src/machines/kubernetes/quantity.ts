/** Amounts as Kubernetes writes them: `500m`, `64Mi`, `1e3`. */

/** Source: Kubernetes API reference, "Quantity". */
const factors: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, '': 1 },
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** Cores, bytes or a count; undefined for what is no amount. */
export function quantityOf(text: string | undefined): number | undefined {
  const found = /^([+-]?\d{1,20}(?:\.\d{1,20})?)([eE][+-]?\d{1,2}|[numkMGTPE]|[KMGTPE]i|)$/.exec(
    text?.trim() ?? '',
  );
  if (found === null) return undefined;
  const [, digits, suffix] = found;
  const factor = factors[suffix!] ?? Number(`1${suffix}`);
  // Thousandths are the smallest that counts: sums of them stay exact enough to be compared.
  return Math.round(Number(digits) * factor * 1e6) / 1e6;
}

/** An amount of a resource, in words: `2.5 cores`, `1.5 GiB`, `3`. */
export function amountWords(resource: string, amount: number): string {
  if (/cpu$/.test(resource)) return `${round(amount)} ${amount === 1 ? 'core' : 'cores'}`;
  if (/memory$|storage$/.test(resource))
    return amount < 2 ** 30 ? `${round(amount / 2 ** 20)} MiB` : `${round(amount / 2 ** 30)} GiB`;
  return `${round(amount)}`;
}

const round = (amount: number): number => Math.round(amount * 100) / 100;
