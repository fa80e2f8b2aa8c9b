// Whatever is done to guards, to the broker and to other processes: one that nobody killed goes on,
// and is not started again.

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
