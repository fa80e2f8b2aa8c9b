// A time limit for work in this thread that may never end. V8 can stop a running script, also
// inside a regular expression. A limit costs a fifth of a millisecond, so a whole batch of work
// shares one.

import { createContext, Script } from 'node:vm'
import type { Milliseconds } from '../../lib/clock.ts'

/** Runs `work`. False: it was stopped after `limitMs`, at any point. Throws the errors of `work`. */
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
