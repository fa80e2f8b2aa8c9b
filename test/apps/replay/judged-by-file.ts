// Guards' files, and a kept bundle judged by one of them as a replay does.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import {
  type GuardProcessOptions,
  startGuardProcess,
} from '../../../apps/replay/guard/guard-process.ts'
import type { Change } from '../../../apps/replay/what-if/change.ts'
import { contentOf } from '../../../apps/replay/what-if/policy-flags.ts'
import { whatIf } from '../../../apps/replay/what-if/what-if.ts'
import { always, changedLog } from './bundled-log.ts'

/**
 * A folder for as long as the tests of a file run. `judge`: the body of a guard's function, with
 * `state` and `round`.
 */
export function guardFiles(): {
  folder: string
  guardFile: (judge: string, before?: string) => string
} {
  const folder = mkdtempSync(join(tmpdir(), 'weir-guard-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let files = 0
  return {
    folder,
    guardFile(judge, before = '') {
      files += 1
      const file = join(folder, `guard-${files}.ts`)
      writeFileSync(
        file,
        `${before}
export default { name: 'mine', version: '1', tools: ['*'], deadlineMs: 1000, onTimeout: 'deny', judge(state: any, round: any) { ${judge} } }
`,
      )
      return file
    },
  }
}

export async function changesBy(
  file: string,
  change: Parameters<typeof changedLog>[1] = (record) => record,
  conversation?: string,
  options: GuardProcessOptions = {},
): Promise<Change[]> {
  const process = await startGuardProcess(file, options)
  try {
    const log = await changedLog('i3-no-termination', change)
    const { changes } = await whatIf({
      log,
      contents: [contentOf({})],
      guard: process,
      only: conversation === undefined ? undefined : new Set([conversation]),
      ...always,
    })
    return changes[0] ?? []
  } finally {
    process.close()
  }
}

export const pass =
  'return { state, verdicts: round.calls.map(({ ordinal }: any) => ({ ordinal, verdict: "allow" })) }'
export const passing = `const pass = (state: any, round: any) => { ${pass} }`
