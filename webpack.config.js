'use strict';

const path = require('node:path');
const webpack = require('webpack');
// webpack's own minimizer, so that its settings can be changed without a second copy of it.
const Minimizer = require(
  require.resolve('minimizer-webpack-plugin', { paths: [require.resolve('webpack')] }),
);

/**
 * One bundle. Types are checked by `tsc -b`; here they are only taken away.
 *
 * @param {object} options
 * @param {string} options.name file name in dist, without `.js`
 * @param {string} options.target webpack target
 * @param {string | object} options.entry source file, or the entry in webpack's long form
 * @param {Record<string, string>} [options.external] modules left to the host, each with how to load it
 * @param {number} options.budget size in KB (1,024 bytes) that must not be passed
 * @param {string} [options.firstLine] put before everything else
 * @returns {webpack.Configuration}
 */
function bundle({ name, target, entry, external = {}, budget, firstLine }) {
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
      },
    },
    module: {
      rules: [
        {
          test: /\.ts$/,
          exclude: /node_modules/,
          use: {
            loader: 'ts-loader',
            options: {
              transpileOnly: true,
              configFile: path.join(__dirname, 'tsconfig.base.json'),
              // ES modules let webpack leave out what is not used.
              compilerOptions: { module: 'esnext', moduleResolution: 'bundler', composite: false },
            },
          },
        },
      ],
    },
    optimization: {
      // A lazy part is one file, named where it is imported.
      splitChunks: false,
      minimizer: [
        new Minimizer({
          extractComments: false,
          // Names stay: a stack a user sends us is worth the few kilobytes.
          minimizerOptions: {
            keep_classnames: true,
            keep_fnames: true,
            format: { comments: false },
          },
        }),
      ],
    },
    performance: {
      hints: 'error',
      maxAssetSize: budget * 1024,
      maxEntrypointSize: budget * 1024,
    },
    plugins: [
      // Optional add-ons of ws, compiled for one machine. They must be missing, not empty: ws then uses
      // its own code instead.
      new webpack.IgnorePlugin({ resourceRegExp: /^(bufferutil|utf-8-validate)$/ }),
      ...(firstLine === undefined
        ? []
        : [new webpack.BannerPlugin({ banner: firstLine, raw: true, entryOnly: true })]),
    ],
  };
}

module.exports = [
  bundle({
    name: 'extension',
    target: 'node20',
    // The editor loads it as a module and calls what it exports.
    entry: { import: './src/extension/extension.ts', library: { type: 'commonjs2' } },
    external: { vscode: 'commonjs vscode' },
    budget: 350,
  }),
  bundle({
    name: 'cli',
    target: 'node20',
    entry: './src/cli/main.ts',
    budget: 450,
    firstLine: '#!/usr/bin/env node',
  }),
  bundle({ name: 'worker', target: 'node20', entry: './src/runner/workerMain.ts', budget: 250 }),
];
