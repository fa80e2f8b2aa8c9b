// A tool that must not run twice in a tenant, on a real file, with a scripted model over real HTTP.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type AnthropicServer, startAnthropicServer } from '../../../apps/demo/anthropic-server.ts'
import { anthropic, defineAgent, defineTool, Weir } from '../../../client/weir.ts'
import onceGuard from '../../../services/guards/once/guard.ts'
import { call, resultsOf, says, text } from '../../support/script.ts'

let folder: string
let server: AnthropicServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-once-'))
  server = await startAnthropicServer((request) =>
    says(resultsOf(request).length > 0 ? text('Done.') : call('pay', { invoice: 17 })),
  )
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const open = (run: () => string) =>
  Weir.open({
    agents: [
      defineAgent({
        name: 'clerk',
        system: 'clerk',
        model: anthropic('scripted', { baseUrl: server.url }),
        tools: [
          defineTool({
            name: 'pay',
            description: 'pays',
            parameters: { type: 'object', properties: { invoice: { type: 'integer' } } },
            once: { by: ['invoice'], for: '24h', within: 'tenant' },
            run,
          }),
        ],
      }),
    ],
    dataFolder: join(folder, 'data'),
    guards: { guards: [{ ...onceGuard(), deadlineMs: 60_000 }], mode: 'enforce' },
    log: pino({ level: 'silent' }),
  })

/** The result of the call in a new conversation. */
async function pay(weir: Weir): Promise<string> {
  const turn = weir.ask({ agent: 'clerk', text: 'Pay.' })
  let result = ''
  for await (const event of turn)
    if (event.type === 'call-finished') result = `${event.status} ${event.reason}`
  await turn.finished
  return result
}

describe('a tool that must not run twice in its tenant', () => {
  it('runs once for eight conversations at once, also after a restart', async () => {
    let runs = 0
    const count = () => {
      runs += 1
      return `receipt ${runs}`
    }
    let denials: string[] = []
    {
      await using weir = await open(count)
      const results = await Promise.all(Array.from({ length: 8 }, () => pay(weir)))
      expect(results.filter((result) => result.startsWith('ok'))).toHaveLength(1)
      denials = results.filter((result) => result.startsWith('denied'))
      expect(denials).toHaveLength(7)
    }
    for (const denial of denials)
      expect(denial).toMatch(
        /vetoed by guard once: once\.(open|done) \(call 0 in round 1 of the turn at offset \d+ of /,
      )
    await using again = await open(count)
    expect(await pay(again)).toMatch(/^denied vetoed by guard once: once\.done/)
    expect(runs).toBe(1)
  })

  it('runs again in another conversation after it failed', async () => {
    const ends = [
      () => {
        throw new Error('the bank is closed')
      },
      () => 'receipt',
    ]
    await using weir = await open(() => ends.shift()?.() ?? '')
    expect(await pay(weir)).toMatch(/^error/)
    expect(await pay(weir)).toMatch(/^ok/)
    expect(await pay(weir)).toMatch(/^denied/)
    expect(ends).toEqual([])
  })
})
