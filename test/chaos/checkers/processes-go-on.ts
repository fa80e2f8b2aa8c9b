// A process that no fault kills keeps running without a restart, through all faults of guards, of
// the broker and of other processes.

import type { Checker } from '../evidence.ts'

export const processesGoOn: Checker = {
  name: 'processes-go-on',
  check({ exits }) {
    return exits.map(({ process, code, signal, at }) => ({
      checker: 'processes-go-on',
      what: `${process} ended by itself at ${at}, with ${signal ?? `exit code ${code}`}`,
    }))
  },
}
