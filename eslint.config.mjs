import { builtinModules } from 'node:module';
import eslint from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * The folders of src and what each may import: the one place where the direction of the flow is written
 * down for the machine. docs/development.md says the same for people, and a test compares the two.
 */
const everyFolder = [
  'base',
  'usecases',
  'scenario',
  'capacity',
  'plan',
  'measure',
  'protocol',
  'wire',
  'servers',
  'targets',
  'runner',
  'results',
  'session',
  'cli',
  'webview',
  'extension',
];
const allBut = (...names) => everyFolder.filter((folder) => !names.includes(folder));

/** Pure folders know neither Node nor the browser nor VS Code. */
export const pureFolders = everyFolder.slice(0, everyFolder.indexOf('protocol') + 1);

export const mayImport = {
  base: [],
  usecases: ['base'],
  scenario: ['base', 'usecases'],
  capacity: ['base', 'scenario', 'usecases'],
  plan: ['base', 'scenario', 'usecases'],
  measure: ['base'],
  protocol: allBut('protocol').filter((folder) => pureFolders.includes(folder)),
  wire: ['base'],
  servers: ['base', 'wire'],
  targets: ['base', 'scenario', 'servers', 'wire'],
  runner: ['base', 'scenario', 'usecases', 'plan', 'measure', 'protocol', 'targets', 'wire'],
  results: ['base', 'scenario', 'measure', 'capacity'],
  session: allBut('session', 'cli', 'webview', 'extension'),
  cli: allBut('cli', 'extension', 'webview'),
  webview: ['base', 'measure', 'capacity', 'protocol'],
  extension: allBut('extension', 'webview'),
};

/** The border files describe messages; importing a value there would drag code over the border. */
const typesOnly = ['protocol'];

/** Packages of pure folders; the histogram library has its own rule below. */
const purePackages = { scenario: ['yaml'] };

/** The only file that knows which histogram library is used. */
export const histogramFile = 'src/measure/histogram.ts';

const anyOf = (names) => names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
/** A relative path that leaves its own folder for one of `names`. */
const folderImport = (names) => `^(\\./)*\\.\\./(\\.{1,2}/)*(src/)?(${anyOf(names)})(/|$)`;

/** What `folder` must not import: regular expressions over the import text, each with its reason. */
function forbidden(folder, file) {
  const allowed = mayImport[folder];
  const rules = [];
  const closed = everyFolder.filter((other) => other !== folder && !allowed.includes(other));
  if (closed.length > 0) {
    const names = allowed.length === 0 ? 'nothing else of src' : allowed.join(', ');
    rules.push({
      regex: folderImport(closed),
      message: `src/${folder} may import ${names}; see docs/development.md.`,
    });
  }
  if (typesOnly.includes(folder)) {
    rules.push({
      regex: folderImport(allowed),
      message: `src/${folder} may import types only.`,
      allowTypeImports: true,
    });
  }
  if (folder !== 'extension') {
    rules.push({ regex: '^vscode(/|$)', message: 'Only src/extension may import vscode.' });
  }
  if (file !== histogramFile) {
    rules.push({
      regex: '^hdr-histogram-js(/|$)',
      message: `Only ${histogramFile} may import hdr-histogram-js.`,
    });
  }
  if (pureFolders.includes(folder)) {
    rules.push({
      regex: `^(node:|(${anyOf(builtinModules)})$)`,
      message: `src/${folder} is pure: it may not import what only Node has.`,
    });
    const packages = [...(purePackages[folder] ?? []), 'vscode', 'hdr-histogram-js'];
    rules.push({
      regex: `^(?!\\.|node:|(${anyOf(builtinModules)})$|(${anyOf(packages)})(/|$))`,
      message: `src/${folder} is pure: its packages are listed in eslint.config.mjs.`,
    });
  }
  return rules;
}

/** One configuration object per folder, and one for the file with an exception. */
export function fences() {
  const fence = (files, folder, file) => ({
    files,
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: forbidden(folder, file) }],
      // The rule above does not look at import(); the pattern language here has no slash of its own.
      'no-restricted-syntax': [
        'error',
        ...forbidden(folder, file).map(({ regex, message }) => ({
          selector: `ImportExpression[source.value=/${regex.replaceAll('/', '\\x2F')}/]`,
          message,
        })),
      ],
    },
  });
  return [
    ...everyFolder.map((folder) => fence([`src/${folder}/**/*.ts`], folder)),
    fence([histogramFile], 'measure', histogramFile),
  ];
}

export default defineConfig(
  {
    ignores: [
      'dist/**',
      'out/**',
      'node_modules/**',
      '.cache/**',
      '.vscode-host/**',
      'test/fixtures/**',
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      // A default that treats all other cases alike is as exhaustive as a list of them.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      'max-lines': ['error', { max: 600 }],
      'max-lines-per-function': ['error', { max: 80 }],
      'no-console': 'error',
      // noUncheckedIndexedAccess makes every read of a typed array `number | undefined`; a check per read
      // would cost time in the hot paths and hide the real conditions.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `() => emitter.fire(x)` is the shape of every listener.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // A leading underscore is how a parameter says that the interface wants it and nobody reads it.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // Methods that answer at once behind an asynchronous interface.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Text from outside may be made to take the square of its length, or worse.
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  ...fences(),
  {
    files: ['test/**/*.ts'],
    rules: {
      // describe() holds a whole suite.
      'max-lines-per-function': 'off',
    },
  },
  {
    // Written by a script: as long as its tables are.
    files: ['src/capacity/tables/resolved.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      ...tseslint.configs.disableTypeChecked.languageOptions,
      globals: Object.fromEntries(
        Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['webpack.config.js', '**/*.cjs'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { require: 'readonly', module: 'writable', __dirname: 'readonly' },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['scripts/**', 'bench/**', 'test/vscode/**'],
    rules: { 'no-console': 'off' },
  },
);
