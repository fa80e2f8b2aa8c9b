// The tests run on the Node of the checkout (see the Makefile), with the loader and the node:sqlite of
// production.

import { availableParallelism } from 'node:os'

/**
 * WEIR_TEST_TIER=unit, int or e2e runs one tier, and all runs the three. Without it, jest runs every test that
 * matches its arguments.
 */
const tier = process.env.WEIR_TEST_TIER ?? 'all'

/**
 * A test of the int or e2e tier mostly waits for processes that it starts, so two workers more
 * than cores keep the cores busy. Beyond the bound, processes under test would only slow each other.
 */
const processTestWorkersMax = 6

const cores = Math.max(2, availableParallelism())

// Tests judge no folder by the owner of this machine, and write nothing into the home folder. Those of
// owners give their own place.
process.env.XDG_STATE_HOME = '/dev/null'

export default {
  testEnvironment: 'node',
  testMatch: [
    tier === 'all'
      ? '<rootDir>/test/**/*.{unit,int,e2e}.test.ts'
      : `<rootDir>/test/**/*.${tier}.test.ts`,
  ],
  // Tests run in processes that load modules as Node does, each module once for all files of a worker.
  // Jest's own runner loads all modules again for each file, which took two thirds of the time.
  runner: '<rootDir>/test/support/jest/runner.ts',
  transform: {},
  setupFiles: ['<rootDir>/test/support/jest/modules.ts'],
  // The shared Kafka broker of a run. The first test that needs it starts it, not this setup.
  globalSetup: '<rootDir>/test/support/kafka/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/kafka/run-teardown.ts',
  testSequencer: '<rootDir>/test/support/longest-first.js',
  reporters: ['default', '<rootDir>/test/support/jest/reporter.ts'],
  maxWorkers: tier === 'unit' ? cores : Math.min(cores + 2, processTestWorkersMax),
}
