// A process that no fault kills keeps running without a restart, through all faults of guards, of
// the broker and of other processes.

import type { Checker } from '../../evidence.ts'

export const processesGoOn: Checker<'exits'> = {
  name: 'processes-go-on',
  rule: 'A process that no fault kills keeps running without a restart.',
  needs: ['exits'],
  check({ exits }) {
    return exits.map(({ process, code, signal, at }) => ({
      problem: `${process} exited without a fault at ${at}, with ${signal ?? `exit code ${code}`}`,
    }))
  },
}
