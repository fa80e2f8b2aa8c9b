// The tests run as ES modules on the Node that the checkout brings along (see the Makefile): the
// same loader and the same node:sqlite as in production.
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.{unit,int,e2e}.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2024',
          transform: { verbatimModuleSyntax: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // The shared Kafka broker of a run: started by the first test that asks for it, never by these.
  globalSetup: '<rootDir>/test/support/kafka/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/kafka/run-teardown.ts',
  testSequencer: '<rootDir>/test/support/longest-first.js',
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/seeded-fast-check.ts' },
  maxWorkers: 2,
  // Against hanging for ever, no measure of speed: what takes a second takes half a minute on a
  // machine that has twenty times too much to do.
  testTimeout: 120_000,
}
