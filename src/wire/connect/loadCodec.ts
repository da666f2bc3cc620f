import type { WireProtocol } from '../../base/message';
import { useClassicCodec } from './codecOf';

/** Loads the codec of a protocol that few runs speak; `codecOf` has the others by itself. */
export async function loadCodec(protocol: WireProtocol): Promise<void> {
  if (protocol !== 'classic') return;
  const { classicCodec } = await import(
    /* webpackChunkName: "classic" */ '../classic/classicCodec.js'
  );
  useClassicCodec(classicCodec);
}
