import { describe, expect, it } from '@jest/globals'
import type { ToolRun } from '../../../shared/agents/agents.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { toolStarter } from '../../../shared/tools/start-tool.ts'

const start = toolStarter()
const call = {
  arguments: '{}',
  idempotencyKey: 'key',
  timeoutMs: 10_000,
  graceMs: 0,
  clock: systemClock,
}

describe('a tool', () => {
  it.each<[ToolRun, string]>([
    [{ kind: 'command', argv: ['/nowhere/program'] }, 'its program was not found (ENOENT)'],
    [{ kind: 'http', url: 'nowhere', headers: {} }, 'its request cannot be sent (ERR_INVALID_URL)'],
    [
      { kind: 'module', file: '/nowhere/module.mjs' },
      'its module could not be loaded (ERR_MODULE_NOT_FOUND)',
    ],
  ])('is started by its kind: $kind', async (run, text) => {
    expect((await start(run, call).ended).text).toContain(text)
  })

  it('of an unknown kind is not started, and its credentials are not shown', () => {
    const run = { kind: 'carrier pigeon', headers: { authorization: 'hush' } } as unknown as ToolRun
    expect(() => start(run, call)).toThrow(/^no such kind of tool: carrier pigeon$/)
  })
})
