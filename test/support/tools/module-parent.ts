// A process that calls a module's function that never returns: module-parent.ts MODULE ARGUMENTS.
// For the test that kills it.

import { systemClock } from '../../../shared/lib/clock.ts'
import { moduleTools } from '../../../shared/tools/module/module.ts'

const [, , file = '', text = ''] = process.argv
const call = {
  arguments: text,
  idempotencyKey: 'key',
  timeoutMs: 60_000,
  graceMs: 60_000,
  clock: systemClock,
}
await moduleTools().start({ kind: 'module', file }, call).ended
