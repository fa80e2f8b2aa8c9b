// Each adapter with Weir's own stages: incidents end after few requests, guards refuse, and a person
// decides.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import pino from 'pino'
import { decideApproval } from '../../../apps/service/approvals/decide.ts'
import { type GuardOptions, openGuard } from '../../../client/guard/guard.ts'
import type {
  CallVerdict,
  GuardSession as FrontGuard,
  GuestConversation,
} from '../../../client/guard/guest-conversation.ts'
import type { Guard } from '../../../shared/contract/guard/guard.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { output } from '../../support/output.ts'
import { adapters } from './adapters.ts'
import type { Call } from './agent.ts'
import { runAiSdk } from './ai-sdk-agent.ts'

let guard: FrontGuard | undefined
let folder: string | undefined

afterEach(async () => {
  await guard?.close()
  if (folder !== undefined) await rm(folder, { recursive: true })
  guard = folder = undefined
})

async function guarded(options: Partial<GuardOptions> = {}): Promise<GuestConversation> {
  guard = await openGuard({ agent: 'ops', log: pino({ level: 'silent' }), ...options })
  return guard.conversation('t1')
}

/** A model that repeats its calls under new ids, and ignores Weir. */
const repeats =
  (...args: string[]) =>
  (n: number): Call[] =>
    args.map((text, at) => [`c${n}-${at}`, text])
/** A model that calls once, and then answers. */
const once =
  (...args: string[]) =>
  (n: number): Call[] | string =>
    n === 1 ? repeats(...args)(n) : 'ok'

describe.each(adapters)('$name', ({ run }) => {
  it.each([
    ['one that lacks its argument', ['{}'], []],
    ['one that is no JSON', ['{bad'], []],
    ['two in parallel', ['{}', '{"cmd":"ls"}'], []],
  ])('ends the loop of a call in text after at most five requests: %s', async (_, args, starts) => {
    const { text, ran, requests } = await run(await guarded(), { answers: repeats(...args) })
    expect(requests.length).toBeLessThanOrEqual(5)
    expect(text).toMatch(/\w/)
    expect(ran).toEqual(starts)
  })

  it('ends the loop of a call that succeeds with one result, after five of them', async () => {
    const answers = repeats('{"command":"date"}')
    const { text, ran, requests } = await run(await guarded(), { answers, result: () => 'noon' })
    expect([ran.length, requests.length]).toEqual([6, 7]) // one more after the nudge
    expect(text).toMatch(/\w/)
  })

  it('does not disturb an agent that makes progress', async () => {
    const answers = (n: number): Call[] | string =>
      n < 8 ? [[`c${n}`, `{"command":"step ${n}"}`]] : 'done'
    const scripts = { answers, result: (command: string) => `${command} is done` }
    const { text, ran, requests } = await run(await guarded(), scripts)
    expect([text, ran.length, requests.length]).toEqual(['done', 7, 8])
  })

  it("shows the model the validator's text in place of the framework's", async () => {
    const { requests } = await run(await guarded(), { answers: once('{}') })
    expect(JSON.stringify(requests[1])).toContain("missing required field 'command'")
  })

  it('keeps a call from running that an enforcing guard denies, and runs its sibling', async () => {
    const conversation = await guarded({ guards: { guards: [noRemoval], mode: 'enforce' } })
    const answers = once('{"command":"ls"}', '{"command":"rm -rf ."}')
    const { ran, requests } = await run(conversation, { answers })
    expect(ran).toEqual(['ls'])
    expect(JSON.stringify(requests[1])).toContain('Nothing is removed here.')
  })

  it('runs every call of a front that observes, also denied and waiting ones', async () => {
    const rules = [{ name: 'all', tools: ['exec'] }]
    const guards = { guards: [noRemoval], mode: 'enforce' } as const
    const conversation = await guarded({ mode: 'observing', guards, approvals: { rules } })
    const answers = once('{"command":"ls"}', '{"command":"rm -rf ."}')
    const { text, ran, requests } = await run(conversation, { answers })
    expect([ran, text]).toEqual([['ls', 'rm -rf .'], 'ok'])
    expect(JSON.stringify(requests[1])).not.toMatch(/Nothing is removed here|not run/i)
  })

  it('holds a call until a person approves it', async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-adapter-'))
    const rules = [{ name: 'all', tools: ['exec'] }]
    const conversation = await guarded({ dataFolder: folder, approvals: { rules } })
    const decisions: Promise<void>[] = []
    const starts: string[] = []
    const watched = watch(conversation, (verdict) => {
      expect(starts).toEqual([])
      decisions.push(approve(verdict))
    })
    const result = (command: string) => {
      starts.push(command)
      return 'done'
    }
    const { text } = await run(watched, { answers: once('{"command":"ls"}'), result })
    await Promise.all(decisions)
    expect([decisions.length, starts, text]).toEqual([1, ['ls'], 'ok'])
  })
})

it('refuses calls if Weir does not answer, and runs them if it only observes', async () => {
  const answers = once('{"command":"ls"}')
  for (const [mode, starts] of [
    ['blocking', []],
    ['observing', ['ls']],
  ] as const) {
    const conversation = await guarded({ mode, answerWithinMs: 10 })
    await guard?.close()
    const { ran } = await runAiSdk('generateText', conversation, { answers })
    expect(ran).toEqual(starts)
  }
})

const noRemoval: Guard = {
  name: 'no-removal',
  version: '1',
  tools: ['exec'],
  deadlineMs: 5_000,
  onTimeout: 'deny',
  judge: (_state, { calls }) => ({
    state: undefined,
    verdicts: calls.map(({ ordinal, arguments: args }) =>
      JSON.stringify(args).includes('rm ')
        ? { ordinal, verdict: 'deny', code: 'removal', text: 'Nothing is removed here.' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

/** The same conversation. `onWait` gets the first verdict that waits for a person. */
function watch(
  conversation: GuestConversation,
  onWait: (verdict: CallVerdict) => void,
): GuestConversation {
  let isKnown = false
  return {
    ...conversation,
    async afterModel(...given) {
      const verdicts = await conversation.afterModel(...given)
      const waiting = verdicts.find(({ approval }) => approval !== undefined)
      if (waiting !== undefined && !isKnown) {
        isKnown = true
        onWait(waiting)
      }
      return verdicts
    },
  }
}

async function approve({ approval }: CallVerdict): Promise<void> {
  const settings = readSettings({ dataFolder: folder ?? '', logLevel: 'silent' }, {})
  const out = output().stream
  await decideApproval('allow', approval?.id ?? '', {}, settings, { out, errors: out })
}
