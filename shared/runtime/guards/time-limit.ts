// Work that may never end, in this very thread: V8 can break off what a script runs, also in a
// regular expression. Setting such a limit costs a fifth of a millisecond, so one is set for a
// whole batch of work and not for each piece.

import { createContext, Script } from 'node:vm'
import type { Milliseconds } from '../../lib/clock.ts'

/**
 * Runs `work`. False: it was broken off after `limitMs`, in the middle of whatever it did. What it
 * throws is thrown.
 */
export type WithinLimit = (work: () => void, limitMs: Milliseconds) => boolean

export function createTimeLimit(): WithinLimit {
  const box = { work: () => {} }
  const context = createContext(box)
  const script = new Script('work()', { filename: 'within-limit.js' })

  return (work, limitMs) => {
    box.work = work
    try {
      script.runInContext(context, { timeout: limitMs })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
        return false
      throw error
    } finally {
      box.work = () => {}
    }
  }
}
