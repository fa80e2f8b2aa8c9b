// A front and its link alone: the deadline of an answer, and the turns that one process keeps open.

import { describe, expect, it } from '@jest/globals'
import { createFront } from '../../../client/guard/front.ts'
import { conversationOfGuest } from '../../../client/guard/guest-thread.ts'
import {
  type FrontLink,
  type FrontRecord,
  type GuestActivity,
  openTurns,
} from '../../../client/guard/inbox.ts'
import { emptyResponse } from '../../../services/accumulator/response.ts'
import { defaultGuestSettings } from '../../../shared/agents/guest.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { newestTurn } from '../../../shared/contract/topology.ts'

const conversation = conversationOfGuest('coder', 'thread')
const place = { conversation, turn: 0, round: 1 }
const turn = { conversation, turnKey: 'u1', user: null }
const wait = { waitMs: 1_000 }
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
const round = {
  key: 'k.1',
  after: null,
  offered: [],
  declarations: [],
  response: emptyResponse({ attempt: 'k.1', stop: 'end', finish: 'stop', usage }),
}
const other: GuestActivity = {
  type: 'guest-claimed',
  ...place,
  ordinals: [],
  owner: 'other',
  claim: 'other',
}
const call = { ordinal: 0, callId: 'a', name: 'read', text: '', code: '', guard: '', until: 0 }

/** A front whose link answers each round, and then delivers a record of another front every 100 ms. */
function frontAmongOthers() {
  let time = 0
  let delivered = 0
  let deliver: (message: GuestActivity) => void = () => {}
  const written: FrontRecord[] = []
  const clock = {
    now: () => time,
    monotonic: () => time,
    after(delayMs: number, fire: () => void) {
      queueMicrotask(() => {
        time += Math.min(delayMs, 100)
        if (delayMs <= 100) return fire()
        delivered += 1
        if (delivered > 100) throw new Error('the wait has no end')
        deliver(other)
      })
      return () => {}
    },
  }
  const link: FrontLink = {
    clock,
    turns: openTurns(clock),
    async listen(_, { onMessage }) {
      deliver = onMessage
      return () => {}
    },
    async write(messages) {
      written.push(...messages)
      if (messages[0]?.type !== 'guest-round') return
      const counts = { callsLeft: 1, nudged: false, caps: null }
      deliver({ type: 'round-started', ...place, ...counts, turnKey: 'u1', key: 'k.1' })
      const calls = [{ ...call, verdict: 'allow' as const, isOver: false }]
      deliver({ type: 'guest-verdicts', ...place, calls })
    },
  }
  const agent = { name: 'coder', settings: defaultGuestSettings }
  const policy = async () => defaultGuestSettings.policy
  const front = createFront({ link, agent, blocking: true, policy })
  return { front, link, written, time: () => time }
}

describe('a front among records of other fronts', () => {
  it('waits for advice until one deadline, however many records come meanwhile', async () => {
    const { front, time } = frontAmongOthers()
    expect(await front.beforeModel(turn, { rounds: [] }, wait)).toBeUndefined()
    expect(time()).toBe(1_000)
  })

  it('waits for its claim until one deadline, and the call then waits on', async () => {
    const { front } = frontAmongOthers()
    const verdicts = await front.proposeRound(turn, round, wait)
    expect(verdicts).toMatchObject({ isSettled: false, calls: [{ verdict: 'pending' }] })
  })
})

describe('turns of invented conversations', () => {
  const named = (n: number) => conversationOfGuest('coder', `invented-${n}`)

  it('share bounded room: the turn used least recently is ended', async () => {
    const { front, link, written } = frontAmongOthers()
    await front.beforeModel(turn, { rounds: [] }, wait)
    for (let n = 1; n < limits.guestTurnsOpenMax; n += 1) link.turns.use(named(n), async () => {})()
    const before = written.length
    link.turns.use(named(0), async () => {})()
    await new Promise((resolve) => setImmediate(resolve))
    expect(written.slice(before)).toMatchObject([
      { type: 'guest-results', conversation, phase: 'turn_end', turnKey: newestTurn, results: [] },
    ])
  })

  it('make no room for others if they have ended, or if their time is over', () => {
    let time = 0
    const ended: string[] = []
    const turns = openTurns({ monotonic: () => time })
    const use = (n: number) =>
      turns.use(named(n), async () => {
        ended.push(named(n))
      })()
    for (let n = 0; n < limits.guestTurnsOpenMax; n += 1) use(n)
    turns.leave(named(0))
    use(-1)
    expect(ended).toEqual([])
    time += limits.guestIdleMs + 1
    use(-2)
    expect(ended).toEqual([])
  })

  it('end no turn with a request that waits, such as for a person', () => {
    const ended: string[] = []
    const turns = openTurns({ monotonic: () => 0 })
    const use = (n: number) =>
      turns.use(named(n), async () => {
        ended.push(named(n))
      })
    const answered = use(0)
    for (let n = 1; n <= limits.guestTurnsOpenMax; n += 1) use(n)()
    expect(ended).toEqual([named(1)])
    answered()
    use(-1)()
    expect(ended).toEqual([named(1), named(0)])
  })
})
