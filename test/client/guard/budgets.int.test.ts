// Budgets on a guest whose front only watches its requests: the advice `end`, with the real stages.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { listConversations } from '../../../apps/history/conversations/conversations.ts'
import { budgetChange } from '../../../apps/service/budgets/change.ts'
import { budgetList, type ShownBudget } from '../../../apps/service/budgets/list.ts'
import { changeSetting, listSettings, removalOf } from '../../../apps/service/setting-command.ts'
import type { GuestAnswer, GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { type Fronts, openFronts } from '../../../client/guard/log/fronts.ts'
import { readSettings, type Settings } from '../../../shared/settings/settings.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall } from '../../support/guest-requests.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

let folder: string
let settings: Settings
let fronts: Fronts
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-guest-budget-'))
  settings = readSettings(
    { dataFolder: join(folder, 'data') },
    { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' },
  )
  fronts = await openFronts({ kind: 'folder', settings }, {})
  await changeSetting(budgetChange, { window: 'day', tokens: '10' }, settings, streams())
})
afterEach(async () => {
  await fronts.close()
  rmSync(folder, { recursive: true })
})

const streams = () => ({ out: new PassThrough() as never, errors: new PassThrough() as never })
const tools = [declarationOf('exec', '', { type: 'object' })]
const asked = (responses: Said[]) => requestOf('anthropic', [{ user: 'Go.', responses }], tools)
const said = saidCall('exec', { command: 'ls' }, { id: 'c', result: 'a.ts' })
const reason = expect.stringContaining('the budget default/tenant/day/tokens is reached: ')

/** The answer of a provider that counts these tokens of input, or none. */
function counted(tokens: number | undefined): GuestAnswer {
  const { request, answer } = answerOf(asked([]), said)
  const usage = tokens === undefined ? {} : { input_tokens: tokens }
  return { request, answer: { ...(answer as object), usage } }
}

function conversationOf(
  id: string,
  options: Partial<Parameters<Fronts['front']>[0]> = {},
): GuestConversation {
  const of = { agent: 'coder', mode: 'observing', answerWithinMs: waitMaxMs } as const
  return fronts.front({ ...of, ...options }).conversation(id)
}

async function written(run: (to: NodeJS.WriteStream) => Promise<unknown>): Promise<string> {
  const text = new PassThrough()
  await run(text as unknown as NodeJS.WriteStream)
  return String(text.read())
}

async function use(): Promise<ShownBudget['use']> {
  const line = await written((to) => listSettings(budgetList, { json: true }, settings, to))
  return (JSON.parse(line) as ShownBudget).use
}

describe('a guest under a hard budget', () => {
  it('gets the advice end when the answers before have reached it', async () => {
    const conversation = conversationOf('t')
    expect(await conversation.beforeModel(asked([]))).toMatchObject({ action: 'none' })
    await conversation.afterModel(counted(10))
    expect(await use()).toMatchObject([{ used: 10, held: 0 }])
    expect(await conversation.beforeModel(asked([said]))).toMatchObject({
      action: 'end',
      reason,
      judged: true,
      text: '',
      fallback: expect.stringMatching(/./),
    })
    const other = conversationOf('u', { mode: 'blocking' })
    expect(await other.beforeModel(asked([]))).toMatchObject({ action: 'end', reason })
  })

  it('goes on while something is left, and when the budget is removed', async () => {
    const conversation = conversationOf('t')
    await conversation.beforeModel(asked([]))
    await conversation.afterModel(counted(9))
    expect(await conversation.beforeModel(asked([said]))).toMatchObject({ action: 'none' })
    expect((await conversationOf('u').beforeModel(asked([]))).action).toBe('end')
    await changeSetting(
      removalOf('budget'),
      { id: 'default/tenant/day/tokens' },
      settings,
      streams(),
    )
    expect((await conversationOf('u').beforeModel(asked([]))).action).toBe('none')
  })

  it('reserves a repeat of a request without an answer once', async () => {
    const conversation = conversationOf('t')
    await conversation.beforeModel(asked([]))
    const [before] = await use()
    expect(await conversation.beforeModel(asked([]))).toMatchObject({ action: 'none' })
    expect(await use()).toEqual([before])
  })

  it('reserves each of two requests that its front has read, by its size', async () => {
    await changeSetting(budgetChange, { window: 'day', tokens: '100000000' }, settings, streams())
    const conversation = conversationOf('t')
    const read = (text: string) => ({ pieces: [{ kind: 'user' as const, text }], tools })
    await conversation.beforeModel(read('Go.'))
    const [{ held: first = 0 } = {}] = await use()
    await conversation.beforeModel(read(`Go to ${'the next town '.repeat(100)}.`))
    const [{ held: both = 0 } = {}] = await use()
    expect(both - first).toBeGreaterThan(first)
    await conversation.beforeModel(read('Go.'))
    expect(await use()).toMatchObject([{ held: both }])
  })

  it('settles each of two requests at the same time by its own answer, once', async () => {
    await changeSetting(budgetChange, { window: 'day', tokens: '100000000' }, settings, streams())
    const conversation = conversationOf('t')
    const second = { ...asked([said]), body: { ...(asked([said]).body as object), n: 1 } }
    await conversation.beforeModel(asked([]))
    const [{ held: first = 0 } = {}] = await use()
    await conversation.beforeModel(second)
    const [{ held: both = 0 } = {}] = await use()
    await conversation.afterModel(counted(7))
    await conversation.afterModel(counted(7))
    expect(await use()).toMatchObject([{ used: 7, held: both - first }])
    await conversation.afterModel({ ...counted(5), request: second })
    expect(await use()).toMatchObject([{ used: 12, held: 0 }])
  })

  it('counts in full after an answer without a count', async () => {
    const conversation = conversationOf('t')
    await conversation.beforeModel(asked([]))
    const [{ held = 0 } = {}] = await use()
    await conversation.afterModel(counted(undefined))
    expect(held).toBeGreaterThan(10)
    expect(await use()).toMatchObject([{ used: held, held: 0 }])
  })

  it('whose hooks show no requests gets the advice end, and reserves nothing', async () => {
    const looking = conversationOf('h', { mode: 'blocking', counting: 'look' })
    expect(await looking.beforeModel(asked([]))).toMatchObject({ action: 'none' })
    expect(await use()).toMatchObject([{ used: 0, held: 0 }])
    await conversationOf('t').beforeModel(asked([]))
    expect(await looking.beforeModel(asked([]))).toMatchObject({ action: 'end', reason })
  })

  it('has a turn in the list of those that a budget ended', async () => {
    await conversationOf('t').beforeModel(asked([]))
    await conversationOf('u').beforeModel(asked([]))
    await fronts.close()
    const list = await written((to) =>
      listConversations(settings, { limit: '10', where: ['failureClass=budget'] }, to),
    )
    expect(list).toContain('guest:coder:u')
    expect(list).not.toContain('guest:coder:t')
  })
})
