// The verdicts that a front gives: each `allow` once, and none while a stop forbids the call. The log is
// a script.

import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Front, RoundVerdicts } from '../../../client/guard/front.ts'
import { guestAgent } from '../../../client/guard/guest-file.ts'
import {
  type BudgetCounting,
  conversationOfGuest,
  createThreads,
  type GuestThread,
} from '../../../client/guard/guest-thread.ts'
import type { GuestVerdictKind, StopInForce } from '../../../shared/contract/messages.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, saidCall } from '../../support/guest-requests.ts'

const tools = [declarationOf('pay', '', { type: 'object' })]
const request = requestOf('anthropic', [{ user: 'Pay.', responses: [] }], tools)
const pay = () => answerOf(request, saidCall('pay', { amount: 100 }, { id: 't1' }))
const allowed = { callId: 't1', name: 'pay', verdict: 'allow' }
const repeated = { callId: 't1', name: 'pay', verdict: 'deny', code: 'guest.repeated' }
const stop: StopInForce = { scope: 'tool', name: 'pay', mode: 'drain', reason: 'wrong account' }

let kinds: GuestVerdictKind[]
let stops: StopInForce[]
let reports: Parameters<Front['report']>[1][]
let thread: GuestThread
let threadOf: (counting: BudgetCounting) => GuestThread

beforeEach(() => {
  kinds = ['allow']
  stops = []
  reports = []
  const front: Front = {
    beforeModel: async () => undefined,
    async proposeRound(_, { response }): Promise<RoundVerdicts> {
      const calls = response.calls.map(({ ordinal, id: callId, name }, at) => {
        const verdict = kinds[at] ?? 'allow'
        const words = { text: '', code: '', guard: '', until: 0, isOver: false }
        return { ordinal, callId, name, verdict, ...words }
      })
      const isSettled = calls.every(({ verdict }) => verdict !== 'pending')
      return { calls, pending: [], place: { turn: 5, round: 1 }, isSettled, notCounted: undefined }
    },
    stops: async () => stops,
    report: async (_, report) => void reports.push(report),
  }
  const agent = guestAgent('coder')
  const log = { warn: () => {} }
  const options = { front, agent, blocking: true, refuses: true, waitMs: 1_000, log }
  threadOf = (counting) =>
    createThreads({ ...options, counting })(conversationOfGuest('coder', 't'), {})
  thread = threadOf('look')
})

describe('a verdict that lets a call run', () => {
  it('is given to one answer, and an equal answer is denied', async () => {
    expect(await thread.afterModel(pay())).toMatchObject([allowed])
    expect(await thread.afterModel(pay())).toMatchObject([repeated])
  })

  it('is given to one of two equal answers that wait together', async () => {
    const both = await Promise.all([thread.afterModel(pay()), thread.afterModel(pay())])
    expect(both.flat().map(({ verdict }) => verdict)).toEqual(['allow', 'deny'])
  })

  it('is given again in the process of the guest, whose host may restore the answer after a wait', async () => {
    const own = threadOf('reserve')
    await own.afterModel(pay())
    expect(await own.afterModel(pay())).toMatchObject([allowed])
  })

  it('stays with the answer that comes again as the same object', async () => {
    const answer = pay()
    await thread.afterModel(answer)
    expect(await thread.afterModel(answer)).toMatchObject([allowed])
  })

  it('is used up after the last call of its answer is decided', async () => {
    const two = () => {
      const calls = [100, 200].map((amount) => saidCall('pay', { amount }, { id: `t${amount}` }))
      return answerOf(request, {
        ...saidCall('pay', {}),
        calls: calls.flatMap(({ calls }) => calls),
      })
    }
    const verdicts = async () =>
      (await thread.afterModel(two(), { waitMs: 10 })).map(({ verdict }) => verdict)
    kinds = ['allow', 'pending']
    expect(await verdicts()).toEqual(['allow', 'pending'])
    kinds = ['allow', 'allow']
    expect(await verdicts()).toEqual(['allow', 'allow'])
    expect(await verdicts()).toEqual(['deny', 'deny'])
  })
})

describe('a stop that an operator sets after the log allowed a call', () => {
  const text = expect.stringContaining('wrong account')
  const denied = { callId: 't1', verdict: 'deny', code: 'call.denied', text }
  const failed = { results: [{ callId: 't1', status: 'error', text }], phase: 'running' }

  it('denies the call, and the log gets a failed result for it', async () => {
    stops = [stop]
    expect(await thread.afterModel(pay())).toMatchObject([denied])
    expect(reports).toMatchObject([failed])
  })

  it('denies a call whose verdict is passed on later', async () => {
    const [verdict] = await thread.afterModel(pay())
    if (verdict === undefined) throw new Error('the call has no verdict')
    expect(await thread.verdictNow(verdict)).toEqual(verdict)
    stops = [stop]
    expect(await thread.verdictNow(verdict)).toMatchObject(denied)
    expect(reports).toMatchObject([failed])
  })

  it('denies no call of another tool', async () => {
    stops = [{ ...stop, name: 'exec' }]
    expect(await thread.afterModel(pay())).toMatchObject([allowed])
  })

  it('denies a call that was allowed before, and reports no result, because its agent may run it already', async () => {
    const answer = pay()
    await thread.afterModel(answer)
    stops = [stop]
    expect(await thread.afterModel(answer)).toMatchObject([denied])
    expect(reports).toEqual([])
  })

  it('denies the call at each look while it is in force', async () => {
    const answer = pay()
    stops = [stop]
    expect(await thread.afterModel(answer)).toMatchObject([denied])
    expect(await thread.afterModel(answer)).toMatchObject([denied])
    expect(await threadOf('reserve').afterModel(pay())).toMatchObject([denied])
  })

  it('leaves the verdict to the next look if the stops cannot be read', async () => {
    const answer = pay()
    const readable = stops
    stops = undefined as never
    expect(await thread.afterModel(answer)).toMatchObject([{ verdict: 'deny' }])
    stops = readable
    expect(await thread.afterModel(pay())).toMatchObject([allowed])
  })
})
