// The setup of each test worker: the two modules that tests import under another name, the cache of
// compiled code, and the logs of the processes that tests start. The runner loads all other modules as
// Node does.

import { enableCompileCache, registerHooks } from 'node:module'
import { compiled } from '../compiled.ts'
import { type CurrentTest, logProcesses } from './process-logs.ts'

// For this process alone. An environment variable would reach the processes that tests start.
enableCompileCache(compiled.NODE_COMPILE_CACHE)

const named: Record<string, string> = {
  '@jest/globals': import.meta.resolve('./globals.ts'),
  'fast-check': import.meta.resolve('../seeded-fast-check.ts'),
}

registerHooks({
  resolve(specifier, context, next) {
    const url = named[specifier]
    return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
  },
})

// A run that was killed leaves no worker.
process.once('disconnect', () => process.exit())

// The runner defines `expect` after this setup.
logProcesses(() => {
  const { expect } = globalThis as { expect?: { getState(): CurrentTest } }
  return expect?.getState() ?? {}
})
