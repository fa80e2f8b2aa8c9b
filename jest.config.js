// The tests run as ES modules on the Node of the checkout (see the Makefile), with the loader and
// the node:sqlite of production.

import { availableParallelism } from 'node:os'

/**
 * WEIR_TEST_TIER=unit, int or e2e runs one tier. Without it, jest runs every test that matches its
 * arguments.
 */
const tier = process.env.WEIR_TEST_TIER ?? '*'

/**
 * A test of the int or e2e tier mostly waits for processes that it starts, so two workers more
 * than cores keep the cores busy. Beyond the bound, processes under test would only slow each other.
 */
const processTestWorkersMax = 6

const cores = Math.max(2, availableParallelism())

export default {
  testEnvironment: 'node',
  testMatch: [
    tier === '*'
      ? '<rootDir>/test/**/*.{unit,int,e2e}.test.ts'
      : `<rootDir>/test/**/*.${tier}.test.ts`,
  ],
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
  // The shared Kafka broker of a run. The first test that needs it starts it, not this setup.
  globalSetup: '<rootDir>/test/support/kafka/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/kafka/run-teardown.ts',
  testSequencer: '<rootDir>/test/support/longest-first.js',
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/seeded-fast-check.ts' },
  maxWorkers: tier === 'unit' ? cores : Math.min(cores + 2, processTestWorkersMax),
  // A limit against hangs, not a measure of speed: on an overloaded machine a second can become
  // half a minute.
  testTimeout: 120_000,
}
