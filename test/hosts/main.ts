// `make hosts`: agent programs of other makers against a scripted provider, through Weir's fronts.
// Installs each at the first case that needs it (installed-hosts.ts). The runs need no network.
// `--only TEXT` runs the cases whose names contain the text. Repeat it for more conditions.
// `--write` writes the results of these cases to test/hosts/RESULTS.md, and a summary to the guide.

import { parseArgs } from 'node:util'
import type { Case, Result } from './cases/case.ts'
import { allCases } from './cases/cases.ts'
import { NotInstalled } from './installed-hosts.ts'
import { type Outcome, writeTables } from './tables.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

const cases = allCases()
const outcomes = new Map<Case, Outcome>()
let faults = 0
for (const one of cases) {
  const name = `${one.program}, ${one.front}: ${one.title}`
  if (!values.only.every((text) => name.includes(text))) continue
  if (values.list) {
    process.stdout.write(`${name}\n`)
    continue
  }
  const { found, fault } = await one
    .run()
    .catch(
      (error: unknown): Result =>
        error instanceof NotInstalled
          ? { found: `not installed: ${error.message}` }
          : { found: 'failed', fault: String(error) },
    )
  if (fault !== undefined) faults += 1
  process.stdout.write(
    `${fault === undefined ? 'ok  ' : 'FAIL'} ${name}: ${found}${fault === undefined ? '' : ` (${fault})`}\n`,
  )
  outcomes.set(one, { found, isWell: fault === undefined })
  if (values.write) await writeTables(cases, outcomes) // a run of an hour may be interrupted
}
process.exitCode = faults === 0 ? 0 : 1
