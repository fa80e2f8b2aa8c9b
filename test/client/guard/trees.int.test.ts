// A guest of a data folder under the caps of its tree.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openGuard } from '../../../client/guard/guard.ts'
import type { GuardSession, GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { defaultGuestSettings } from '../../../shared/agents/guest.ts'
import type { TreeCaps } from '../../../shared/contract/messages.ts'
import { lowestTreeCaps } from '../../../shared/contract/turn/tree-caps.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall } from '../../support/guest-requests.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

let folder: string
let guard: GuardSession
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-guest-trees-'))
})
afterEach(async () => {
  await guard.close()
  rmSync(folder, { recursive: true })
})

function coder(caps: Partial<TreeCaps>) {
  const policy = { ...defaultGuestSettings.policy, tree: lowestTreeCaps(null, caps) }
  return { name: 'coder', settings: { ...defaultGuestSettings, policy } }
}

async function open(caps: Partial<TreeCaps>): Promise<void> {
  guard = await openGuard({
    agent: coder(caps),
    answerWithinMs: waitMaxMs,
    dataFolder: join(folder, 'data'),
  })
}

const tools = [declarationOf('Agent', '', { type: 'object' })]
const asked = (responses: Said[] = []) => ({
  ...requestOf('anthropic', [{ user: 'Go.', responses }], tools),
  host: 'claude-code',
})
const agentCall = (id: string) => saidCall('Agent', { prompt: id }, { id, result: 'done' }).calls[0]
const storm = (count: number, from = 0): Said => {
  const [first, ...more] = Array.from({ length: count }, (_, n) => agentCall(`c${from + n}`))
  return { ...saidCall('Agent', {}), calls: [first, ...more].flatMap((call) => call ?? []) }
}

async function verdictsOn(conversation: GuestConversation, said: Said, before: Said[] = []) {
  const verdicts = await conversation.afterModel(answerOf(asked(before), said))
  return verdicts.map(({ verdict, text }) => (verdict === 'deny' ? text : verdict))
}

const atOnce = (max: number) =>
  `Not run: at most ${max} agents below the first one may run at once, and as many run now. Wait for the result of one of them, then make this call again if you still need it.`

const guide = readFileSync(new URL('../../../docs/guard/budgets.md', import.meta.url), 'utf8')

describe('the agent file of the guide of trees', () => {
  it('starts 3 of a storm of 24 agents', async () => {
    const [, name = '', file = ''] =
      /^```yaml\n# agents\/([\w-]+\.yaml)\n(.*?)^```$/ms.exec(guide) ?? []
    writeFileSync(join(folder, name), file)
    guard = await openGuard({
      agent: join(folder, name),
      answerWithinMs: waitMaxMs,
      dataFolder: join(folder, 'data'),
    })
    const conversation = guard.conversation('s')
    await conversation.beforeModel(asked())
    const verdicts = await verdictsOn(conversation, storm(24))
    expect(verdicts.filter((verdict) => verdict === 'allow')).toHaveLength(3)
    expect(new Set(verdicts)).toEqual(new Set(['allow', atOnce(3)]))
  })
})

describe('a guest whose tree is full', () => {
  it('starts 3 of a storm of 24, and another one after a result', async () => {
    await open({ atOnce: 3 })
    const conversation = guard.conversation('s')
    await conversation.beforeModel(asked())
    const first = storm(24)
    expect(await verdictsOn(conversation, first)).toEqual([
      ...Array.from({ length: 3 }, () => 'allow'),
      ...Array.from({ length: 21 }, () => atOnce(3)),
    ])
    await conversation.reportResults([{ callId: 'c1', status: 'ok', text: 'done' }])
    const shown = [{ ...first, calls: first.calls.map((call) => ({ ...call, result: undefined })) }]
    expect(await verdictsOn(conversation, storm(2, 50), shown as Said[])).toEqual([
      'allow',
      atOnce(3),
    ])
  })

  it('counts the calls of its sub-agents in the same tree, and how deep they are', async () => {
    await open({ children: 2, depth: 1 })
    await guard.conversation('s').beforeModel(asked())
    expect(await verdictsOn(guard.conversation('s'), storm(1))).toEqual(['allow'])
    const child = guard.conversation('s:a', { root: 's' })
    await child.beforeModel(asked())
    const [deep] = await verdictsOn(child, storm(1))
    expect(deep).toContain('agents may stand at most 1 deep below the first one')
    const other = guard.conversation('t')
    await other.beforeModel(asked())
    expect((await verdictsOn(other, storm(3))).filter((one) => one === 'allow')).toHaveLength(2)
  })

  it('keeps the place of an agent that goes on after its result until the agent ends', async () => {
    await open({ atOnce: 1 })
    const conversation = guard.conversation('s')
    await conversation.beforeModel(asked())
    const [one, two, three] = [storm(1), storm(1, 1), storm(1, 2)]
    expect(await verdictsOn(conversation, one)).toEqual(['allow'])
    conversation.goesOn('c0', 's:a')
    await conversation.beforeModel(asked([one]))
    const [held] = await verdictsOn(conversation, two, [one])
    expect(held).toContain('at most 1 agent below the first one may run at once')
    await guard.conversation('s:a', { root: 's' }).finishTurn()
    await conversation.beforeModel(asked([one, two]))
    expect(await verdictsOn(conversation, three, [one, two])).toEqual(['allow'])
  })

  it('starts no more agents for an answer that is judged twice at the same time', async () => {
    await open({ atOnce: 3 })
    const conversation = guard.conversation('s')
    await conversation.beforeModel(asked())
    const all = await Promise.all([1, 2].map(() => verdictsOn(conversation, storm(24))))
    for (const verdicts of all)
      expect(verdicts.flatMap((verdict, at) => (verdict === 'allow' ? [at] : []))).toEqual([
        0, 1, 2,
      ])
  })

  it('starts any number for a client whose tools are not known', async () => {
    await open({ atOnce: 1 })
    const conversation = guard.conversation('s')
    const request = { ...asked(), host: undefined }
    await conversation.beforeModel(request)
    const verdicts = await conversation.afterModel(answerOf(request, storm(3)))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['allow', 'allow', 'allow'])
  })

  it('needs a log, because memory counts no children', async () => {
    await open({})
    await expect(openGuard({ agent: coder({ atOnce: 1 }) })).rejects.toThrow(
      'the guest coder has tree, which needs a log: give dataFolder or kafka, or remove it',
    )
  })
})
