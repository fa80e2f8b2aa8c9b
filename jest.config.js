// The tests run as ES modules on the Node that the checkout brings along (see the Makefile): the same loader and the same node:sqlite as in production.
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.{unit,int,e2e}.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024', transform: { verbatimModuleSyntax: true } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // The shared Kafka broker of a run: started by the first test that asks for it, never by these.
  globalSetup: '<rootDir>/test/support/kafka/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/kafka/run-teardown.ts',
  maxWorkers: 2,
  testTimeout: 30_000,
}
