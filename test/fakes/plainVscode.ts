import Module from 'node:module';
import { english } from '../../src/base/text';

// Imported first: modules of the extension that a test imports next find this in place of `vscode`.
const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
const real = loader._load;
loader._load = (request, ...rest) =>
  request === 'vscode' ? { l10n: { t: english } } : real.call(Module, request, ...rest);
