'use strict';

const { readFileSync } = require('node:fs');
const path = require('node:path');
const webpack = require('webpack');
// webpack's own minimizer, so that its settings can be changed without a second copy of it.
const Minimizer = require(
  require.resolve('minimizer-webpack-plugin', { paths: [require.resolve('webpack')] }),
);

const keptNames = { keep_classnames: true, keep_fnames: true };
const minimizer = new Minimizer({
  minify: Minimizer.swcMinify,
  extractComments: false,
  // SWC works in threads of its own. A process for each file would load it again, for each of the bundles.
  parallel: false,
  // Names stay: a stack a user sends us is worth the few kilobytes.
  minimizerOptions: { mangle: keptNames, compress: keptNames, format: { comments: false } },
});

/**
 * What each file of dist may have, in KB (1,024 bytes). docs/development.md says what each holds; a test compares the two.
 */
const budgets = {
  ...{ cli: 245, commands: 240, record: 40, servers: 220, serve: 400 },
  ...{
    extension: 35,
    features: 215,
    run: 220,
    panel: 165,
    sharedStart: 320,
    sharedRun: 460,
    sharedLater: 65,
  },
  ...{ worker: 320, jsonPath: 70, sdk: 190, optional: 780, optionalLead: 280 },
};

/** Fails the build where a file is above its budget, or has none. */
const withinBudgets = {
  apply(compiler) {
    compiler.hooks.afterEmit.tap('withinBudgets', (compilation) => {
      for (const { name, source } of compilation.getAssets()) {
        if (!/^[^/]+\.js$/.test(name)) continue;
        const budget = budgets[path.basename(name, '.js')];
        const what = budget === undefined ? 'has no budget' : `is above its budget of ${budget} KB`;
        if (!(source.size() <= budget * 1024))
          compilation.errors.push(new webpack.WebpackError(`dist/${name} ${what}`));
      }
    });
  },
};

/**
 * One bundle. Types are checked by `tsc -b`; here they are only taken away.
 *
 * @param {object} options
 * @param {string} options.name file name in dist, without `.js`
 * @param {string} options.target webpack target
 * @param {string | object} options.entry source file, or the entry in webpack's long form
 * @param {Record<string, string>} [options.external] modules left to the host, each with how to load it
 * @param {webpack.WebpackPluginInstance[]} [options.plugins] further plugins
 * @returns {webpack.Configuration}
 */
function bundle({ name, target, entry, external = {}, plugins = [] }) {
  return {
    name,
    target,
    mode: 'production',
    context: __dirname,
    entry: { [name]: entry },
    output: {
      path: path.join(__dirname, 'dist'),
      filename: '[name].js',
      chunkFilename: '[name].js',
    },
    externals: external,
    devtool: 'source-map',
    resolve: {
      extensions: ['.ts', '.js'],
      // A dynamic import names the file as Node will find it.
      extensionAlias: { '.js': ['.ts', '.js'] },
      alias: {
        // Second choice of hdr-histogram-js where there is no zlib; Node has one.
        pako: false,
        // Third kind of histogram of hdr-histogram-js, made only on request; ours count in 32 or 64 bits.
        './PackedHistogram': false,
        // For editors that change the tokens of YAML in place.
        './cst-scalar.js': false,
        './cst-visit.js': false,
        // Opens browsers, for a way to sign in that is not used here.
        open: false,
      },
    },
    module: {
      rules: [
        {
          test: /\.ts$/,
          exclude: /node_modules/,
          use: {
            loader: 'swc-loader',
            options: {
              jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
              // ES modules let webpack leave out what is not used.
              module: { type: 'es6' },
            },
          },
        },
      ],
    },
    optimization: {
      // A lazy part is one file, named where it is imported.
      splitChunks: false,
      minimizer: [minimizer],
    },
    performance: { hints: false },
    plugins: [
      withinBudgets,
      // Optional add-ons of ws, compiled for one machine. They must be missing, not empty: ws then uses
      // its own code instead.
      new webpack.IgnorePlugin({ resourceRegExp: /^(bufferutil|utf-8-validate)$/ }),
      ...plugins,
    ],
  };
}

/** The chart library's style sheet, among the bundles; the build puts it beside the panel's own, where the page links it. */
const chartStyles = {
  apply(compiler) {
    const { Compilation, sources } = webpack;
    const stage = Compilation.PROCESS_ASSETS_STAGE_ADDITIONAL;
    compiler.hooks.thisCompilation.tap('chartStyles', (compilation) => {
      compilation.hooks.processAssets.tap({ name: 'chartStyles', stage }, () => {
        const text = readFileSync(require.resolve('uplot/dist/uPlot.min.css'));
        compilation.emitAsset('uPlot.css', new sources.RawSource(text));
      });
    });
  },
};

/**
 * The official client loads WebSocket and EventSource by names that only exist beside installed packages.
 * It is given both, so that nothing is left to load.
 */
const sdkModules = new webpack.DefinePlugin({ __non_webpack_require__: '(() => undefined)' });

/** Parts that only some runs need, by the paths that name them; each begins when it is asked for: `src/run/bundles/optional.ts`. */
const parts = (file, paths) =>
  Object.fromEntries(
    Object.entries(paths).map(([path, part]) => [
      path,
      `promise require('./${file}.js').${part}()`,
    ]),
  );

/** Finds values in answers: one file for the three that read sessions or run them. */
const jsonPath = { 'json-p3': 'commonjs ./jsonPath.js' };

const optional = parts('optional', {
  './credential.js': 'credential',
  '../../targets/entra/credential.js': 'credential',
  '../agents/bus/natsBus.js': 'bus',
  './identities/openRows.js': 'rows',
  '../targets/identities/openRows.js': 'rows',
});
const optionalLead = parts('optionalLead', {
  './observe/openObserver.js': 'observer',
  './otlpPush.js': 'otlp',
  './replays.js': 'replays',
});

/** Editor and command line: what both load later than at the start of the editor stands in files that they share. */
const shells = bundle({
  name: 'shells',
  target: 'node20',
  entry: './src/cli/main.ts',
  external: { vscode: 'commonjs vscode', ...jsonPath, ...optional, ...optionalLead },
});
shells.entry = {
  // The editor loads it as a module and calls what it exports.
  extension: { import: './src/extension/extension.ts', library: { type: 'commonjs2' } },
  cli: './src/cli/main.ts',
};
const isUsedBy = (name, module, { chunkGraph }) =>
  [...chunkGraph.getModuleChunksIterable(module)].some((chunk) => chunk.name === name);
// The editor starts with one file, and its language features load no load runner.
const shared = (name, apart, test) => ({
  ...{ name, test, minChunks: 2, enforce: true },
  chunks: (chunk) => !apart.includes(chunk.name),
});
shells.optimization.splitChunks = {
  cacheGroups: {
    default: false,
    defaultVendors: false,
    start: shared('sharedStart', ['extension'], (...of) => isUsedBy('cli', ...of)),
    run: shared('sharedRun', ['extension', 'features'], (...of) => !isUsedBy('cli', ...of)),
  },
};
shells.plugins.push(
  new webpack.BannerPlugin({ banner: '#!/usr/bin/env node', raw: true, include: /^cli\.js$/ }),
);

module.exports = [
  shells,
  bundle({
    name: 'serve',
    target: 'node20',
    entry: './src/cli/serveMain.ts',
    // The servers are all it is for.
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  }),
  // Parts of parts, and what is left of what opens browsers, are no files of their own.
  bundle({
    name: 'optional',
    target: 'node20',
    entry: { import: './src/run/bundles/optional.ts', library: { type: 'commonjs2' } },
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  }),
  bundle({
    name: 'optionalLead',
    target: 'node20',
    entry: { import: './src/run/bundles/optionalLead.ts', library: { type: 'commonjs2' } },
    external: optional,
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  }),
  bundle({
    name: 'jsonPath',
    target: 'node20',
    entry: { import: 'json-p3', library: { type: 'commonjs2' } },
  }),
  bundle({
    name: 'worker',
    target: 'node20',
    entry: './src/engine/workerMain.ts',
    external: jsonPath,
    plugins: [sdkModules],
  }),
  bundle({
    name: 'panel',
    target: ['web', 'es2022'],
    entry: './src/webview/main.ts',
    plugins: [chartStyles],
  }),
];
module.exports.budgets = budgets;
