// A guard's file that judges in a replay: a good one, and those that go wrong.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { startGuardProcess } from '../../../../services/cli/replay/guard/guard-process.ts'
import { contentOf } from '../../../../services/cli/replay/what-if/asked.ts'
import type { Change } from '../../../../services/cli/replay/what-if/change.ts'
import { whatIf } from '../../../../services/cli/replay/what-if/what-if.ts'
import { always, changedLog } from './bundled-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-guard-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

/** `judge`: its body, with `state` and `round`. */
function guardFile(judge: string, before = ''): string {
  files += 1
  const file = join(folder, `guard-${files}.ts`)
  writeFileSync(
    file,
    `${before}
export default { name: 'mine', version: '1', tools: ['*'], deadlineMs: 1000, onTimeout: 'reject', judge(state: any, round: any) { ${judge} } }
`,
  )
  return file
}

async function changesBy(file: string): Promise<Change[]> {
  const process = await startGuardProcess(file)
  try {
    const log = await changedLog('i3-no-termination', (record) => record)
    const { changes } = await whatIf({ log, contents: [contentOf({})], guard: process, conversation: undefined, ...always })
    return changes[0] ?? []
  } finally {
    process.close()
  }
}

const pass = 'return { state, verdicts: round.calls.map(({ ordinal }: any) => ({ ordinal, verdict: "pass" })) }'

describe('a guard in a replay', () => {
  it('that lets everything pass changes nothing', async () => {
    expect(await changesBy(guardFile(pass))).toEqual([])
  })

  it('is told where it would have vetoed first, and which calls had succeeded; it remembers a conversation as it does in production', async () => {
    const third = `const seen = (state ?? 0) + 1
      const verdict = (ordinal: number) => (seen < 3 ? { ordinal, verdict: 'pass' } : { ordinal, verdict: 'reject', code: 'enough', text: 'Enough.', evidence: 'three' })
      return { state: seen, verdicts: round.calls.map(({ ordinal }: any) => verdict(ordinal)) }`
    const [change] = await changesBy(guardFile(third))
    expect(change).toMatchObject({ round: 3, was: null, is: { rung: 'veto', rule: 'mine@1', reason: 'three' }, roundsSaved: 4 })
    expect(change?.refused.map(({ round }) => round)).toEqual([3, 4, 5, 6])
  })

  it.each([
    ['throws', 'throw new Error("no idea")', /round 1 of turn 0 of conversation i3-no-termination: judge threw: no idea/],
    ['loops for ever', 'for (;;);', /judge took longer than 1000 ms/],
    ['answers nonsense', 'return { verdicts: "none" }', /its verdicts are no array/],
    ['ends its process', 'process.exit(3)', /its process ended while judging \(exit code 3\)/],
    ['looks for an environment and finds none', 'throw new Error("env " + Object.keys(process.env).join())', /judge threw: env \. /],
    [
      'writes a file',
      `require('node:fs').writeFileSync('${folder}/out', '')`,
      /judge threw: .*(denied|permission|require is not defined)/i,
    ],
  ])('that %s is refused, with the round', async (_, judge, words) => {
    await expect(changesBy(guardFile(judge))).rejects.toThrow(words)
  })

  it('may start no process', async () => {
    const file = guardFile('spawnSync("true"); return { verdicts: [] }', `import { spawnSync } from 'node:child_process'`)
    await expect(changesBy(file)).rejects.toThrow(/judge threw: .*(restricted|denied|permission)/i)
  })

  it.each([
    ['is none', 'export default 7', /default export must be a guard/],
    ['throws while it is loaded', 'throw new Error("not today")', /not today/],
    ['is not there', undefined, /cannot be loaded|no file/],
  ])('that %s is refused when it is loaded', async (_, text, words) => {
    const file = join(folder, `bad-${text?.length ?? 0}.ts`)
    if (text !== undefined) writeFileSync(file, text)
    await expect(startGuardProcess(file)).rejects.toThrow(words)
  })
})
