import type { SignedInPass } from '../../base/endpoint';
import type { Passes } from '../target';

/** Tells the newest pass now, since it may have been renewed while somebody started, and each one after it. */
export function followPasses(passes: Passes | undefined, tell: (pass: SignedInPass) => void): void {
  if (passes === undefined) return;
  tell(passes.current);
  passes.onRenewed(tell);
}
