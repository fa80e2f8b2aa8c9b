// An operator's stop in the reducer of the gateway: the failed attempt ends the round at once.

import { describe, expect, it } from '@jest/globals'
import {
  checkBeforeRequest,
  stoppedAttempt,
} from '../../../../services/llm-gateway/performer/operator-stops.ts'
import type { Message, StopInForce } from '../../../../shared/contract/messages.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'

const stop: StopInForce = { scope: 'agent', name: 'bank', mode: 'now', reason: 'wrong transfers' }
const target = { agent: 'bank', conversation: 'c', calledBy: [], parent: null }
const log = createLog({ level: 'silent' })

function failureBefore(message: Message | undefined) {
  const policies = async () =>
    message === undefined ? [] : [{ key: 'stop:agent:bank', message, time: 0 }]
  return checkBeforeRequest({ log, policies }, target)
}

describe('a model request of a stopped agent', () => {
  it('fails with the class stopped and the reason, and is not tried again', async () => {
    const failed = await failureBefore({ type: 'operator-stop', ...stop, setBy: 'anna', setAt: 1 })
    expect(failed).toEqual(stoppedAttempt(stop))
    expect(failed).toMatchObject({
      class: 'stopped',
      retryable: false,
      reason: 'an operator stopped agent "bank": wrong transfers',
    })
  })

  it('is made if there is no stop, or only one of tools', async () => {
    expect(await failureBefore(undefined)).toMatchObject({ kind: 'free', budgets: [] })
    const tools = { ...stop, scope: 'tool' as const, name: '*' }
    const stopped = { type: 'operator-stop' as const, ...tools, setBy: 'anna', setAt: 1 }
    expect(await failureBefore(stopped)).toMatchObject({ kind: 'free' })
  })

  it('fails and is tried again while the stops cannot be read', async () => {
    const policies = () => Promise.reject(new Error('closed'))
    const failed = await checkBeforeRequest({ log, policies }, target)
    expect(failed).toMatchObject({ code: 'policies.unreadable', retryable: true })
  })
})
