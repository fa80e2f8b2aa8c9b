// Guests of a data folder whose tool must not run twice in the tenant.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openGuard } from '../../../client/guard/guard.ts'
import type { GuardSession } from '../../../client/guard/guest-conversation.ts'
import onceGuard from '../../../services/guards/once/guard.ts'
import { defaultGuestSettings } from '../../../shared/agents/guest.ts'
import { lowestTreeCaps } from '../../../shared/contract/turn/tree-caps.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall } from '../../support/guest-requests.ts'
import { noHints } from '../../support/messages.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

let folder: string
let guard: GuardSession
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-guest-once-'))
})
afterEach(async () => {
  await guard?.close()
  rmSync(folder, { recursive: true })
})

const once = { by: ['invoice'], forMs: 60_000, within: 'tenant' as const }
const hints = Object.fromEntries(
  ['pay', 'Agent'].map((tool) => [tool, { ...noHints, poll: false, once }]),
)
const guards = { guards: [{ ...onceGuard(), deadlineMs: 60_000 }], mode: 'enforce' as const }
const tools = [declarationOf('pay', '', { type: 'object' }), declarationOf('Agent', '', {})]
const asked = (responses: Said[] = []) => ({
  ...requestOf('anthropic', [{ user: 'Go.', responses }], tools),
  host: 'claude-code',
})

async function open(policy = {}): Promise<void> {
  const settings = {
    ...defaultGuestSettings,
    policy: { ...defaultGuestSettings.policy, ...policy },
  }
  const dataFolder = join(folder, 'data')
  const agent = { name: 'coder', settings, hints }
  guard = await openGuard({ agent, guards, answerWithinMs: waitMaxMs, dataFolder })
}

/** The verdict on one call in a new turn of the conversation. */
async function verdictOn(conversation: string, said: Said): Promise<string> {
  const thread = guard.conversation(conversation)
  await thread.beforeModel(asked())
  const [verdict] = await thread.afterModel(answerOf(asked(), said))
  return verdict?.verdict === 'deny' ? verdict.text : `${verdict?.verdict}`
}

const pay = (invoice: number, tool = 'pay') => saidCall(tool, { invoice }, { id: 'c0' })

describe('a guest whose tool must not run twice in its tenant', () => {
  it('runs one of equal calls that come at once in eight conversations', async () => {
    await open()
    const ids = Array.from({ length: 8 }, (_, n) => `s${n}`)
    const verdicts = await Promise.all(ids.map((id) => verdictOn(id, pay(17))))
    expect(verdicts.filter((one) => one === 'allow')).toHaveLength(1)
    const denials = verdicts.filter((one) => one !== 'allow')
    expect(denials).toHaveLength(7)
    for (const text of denials)
      expect(text).toMatch(/^Tool call vetoed.*guard "once".*another conversation.*no result yet/)
    expect(await verdictOn('t', pay(18))).toBe('allow')
  })

  it('may run the call elsewhere after it failed, and not after it succeeded', async () => {
    await open()
    const result = (status: 'ok' | 'error') => [{ callId: 'c0', status, text: 'receipt 4711' }]
    expect(await verdictOn('a', pay(17))).toBe('allow')
    await guard.conversation('a').reportResults(result('error'))
    expect(await verdictOn('b', pay(17))).toBe('allow')
    await guard.conversation('b').reportResults(result('ok'))
    const denial = await verdictOn('c', pay(17))
    expect(denial).toMatch(/ran already, at \d{4}-.*Its result is not shown here/)
    expect(denial).not.toContain('4711')
  })

  it('keeps the values of a call with the id of a failed one while a client repeats its request', async () => {
    await open()
    const failed = saidCall('pay', { invoice: 17 }, { id: 'c0', result: 'no', isError: true })
    const thread = guard.conversation('a')
    expect(await verdictOn('a', pay(17))).toBe('allow')
    await thread.beforeModel(asked([failed]))
    const [again] = await thread.afterModel(answerOf(asked([failed]), pay(18)))
    expect(again?.verdict).toBe('allow')
    await thread.beforeModel(asked([failed]))
    expect(await verdictOn('b', pay(17))).toBe('allow')
    expect(await verdictOn('c', pay(18))).toContain('no result yet')
  })

  it('frees the values of the failed one of two calls with one id', async () => {
    await open()
    const both = { ...pay(17), calls: [17, 18].flatMap((invoice) => pay(invoice).calls) }
    const thread = guard.conversation('a')
    await thread.beforeModel(asked())
    const verdicts = await thread.afterModel(answerOf(asked(), both))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['allow', 'allow'])
    await thread.reportResults([{ callId: 'c0', nth: 0, status: 'error', text: 'no' }])
    expect(await verdictOn('b', pay(17))).toBe('allow')
    expect(await verdictOn('c', pay(18))).toContain('no result yet')
  })

  it('frees the values of a call that its tree denies', async () => {
    await open({ tree: lowestTreeCaps(null, { depth: 1 }) })
    await guard.conversation('s').beforeModel(asked())
    const child = guard.conversation('s:a', { root: 's', parent: 's' })
    await child.beforeModel(asked())
    const [deep] = await child.afterModel(answerOf(asked(), pay(17, 'Agent')))
    expect(deep?.text).toContain('deep below the first one')
    expect(await verdictOn('t', pay(17, 'Agent'))).toBe('allow')
  })

  it('needs a log, because memory knows no other process', async () => {
    await expect(openGuard({ agent: { name: 'coder', hints }, guards })).rejects.toThrow(
      'the guest coder has once.within: tenant of pay, which needs a log: give dataFolder or kafka, or remove it',
    )
  })
})
