// A guest through all stages that judge it, from its front's records to advice and verdicts.

import { describe, expect, it } from '@jest/globals'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import type { GuardInForce, GuestAdvice, Message } from '../../../shared/contract/messages.ts'
import { of, openGuestWorld } from './guest-world.ts'
import { conversation, policyWith, request, result, results, round } from './samples.ts'

const failure = { status: 'error', text: 'exec failed: ENOENT: no such file or directory' } as const

describe('incident I1 in a guest: the same failing call again and again', () => {
  it.each([
    ['observing', false],
    ['blocking', true],
  ])(
    'a front that is %s gets a nudge, a text-only round and the end within five requests',
    async (_, blocking) => {
      const world = openGuestWorld()
      const actions: string[] = []
      const keys: string[] = []
      for (let n = 1; n <= 6; n++) {
        const advice = await world.adviceOn(
          request(`r${n}`, keys, {
            blocking,
            results: keys.slice(-1).map((key) => result(key, failure)),
          }),
        )
        actions.push(advice?.action ?? 'nothing')
        keys.push(`a.${n}`)
        await world.write(round(`a.${n}`, { blocking }))
      }
      expect(actions).toEqual(['none', 'none', 'none', 'nudge', 'text_only', 'end'])
      expect(world.logOf('dead-letters')).toEqual([])
      expect(world.logOf('history').length).toBeGreaterThanOrEqual(6)
    },
  )

  it('a schema-invalid call never runs, and its text names the missing argument', async () => {
    const world = openGuestWorld()
    const written = await world.write(round('a.1', { calls: [{ raw: '{}' }] }))
    const [advice] = of(written, 'guest-advice')
    expect(advice).toMatchObject({
      key: 'a.1',
      denied: [{ ordinal: 0, callId: 'id-0', text: expect.stringContaining('command') }],
    })
    expect(of(written, 'guest-verdicts')).toEqual([])
  })

  it('a round with a valid and an invalid call has a verdict on each of them', async () => {
    const world = openGuestWorld()
    const written = await world.write(
      round('a.1', { calls: [{ id: 'x' }, { id: 'y', raw: '{}' }] }),
    )
    expect(of(written, 'guest-verdicts').map(({ calls }) => calls)).toEqual([
      [
        expect.objectContaining({ callId: 'x', name: 'exec', verdict: 'allow' }),
        expect.objectContaining({
          callId: 'y',
          verdict: 'deny',
          text: expect.stringContaining('command'),
        }),
      ],
    ])
    const over = await world.write(
      results('running', { results: [result('a.1', { callId: 'x' })] }),
    )
    expect(of(over, 'guest-advice')[0]?.denied).toEqual([expect.objectContaining({ callId: 'y' })])
  })
})

describe('a call of a guest', () => {
  it('is offered to the guest alone: no executor has a task', async () => {
    const world = openGuestWorld()
    const written = await world.write(round('a.1'))
    expect(of(written, 'guest-verdicts')[0]?.calls[0]?.verdict).toBe('allow')
    expect(world.tasks(conversation)).toEqual([])
  })

  it('has an unknown outcome when nothing is reported by its deadline', async () => {
    const world = openGuestWorld()
    await world.write(round('a.1'))
    const [open] = of(world.logOf('rounds-cleared'), 'round-cleared')
    const unit = JSON.stringify([conversation, open?.turn])
    const over = await world.append(
      'rounds-cleared',
      { type: 'tick', conversation, unit },
      defaultSettings.policy.startWithinMs + 60_000 + defaultSettings.policy.graceMs + 1_000,
    )
    expect(of(over, 'round-outcome')[0]?.results[0]?.status).toBe('unknown')
    expect(of(over, 'guest-advice')).toHaveLength(1)
  })

  it('shows its verdict again to a front that writes the same round later', async () => {
    const world = openGuestWorld()
    await world.write(round('a.1'))
    const again = await world.write(round('a.1'))
    expect(again.map(({ type }) => type)).toEqual([
      'round-started',
      'verdicts-requested',
      'guest-verdicts',
    ])
  })
})

const approvalGuard: GuardInForce = {
  name: 'approval',
  version: '1',
  tools: [{ pattern: '*', mode: 'enforce' }],
  deadlineMs: 600_000,
  onTimeout: 'deny',
  rules: '[{"name":"all","tools":["exec"]}]',
}

describe('a call that waits for a person', () => {
  const policy = policyWith({ guards: [approvalGuard], bindsPrograms: true })

  async function waiting() {
    const world = openGuestWorld()
    const written = await world.write(round('a.1', { policy }))
    return { world, written }
  }

  it('has the verdict wait, and extends the turn', async () => {
    const { written } = await waiting()
    expect(of(written, 'guest-verdicts').at(-1)?.calls).toEqual([
      expect.objectContaining({ verdict: 'pending', code: 'approval', until: expect.any(Number) }),
    ])
    expect(of(written, 'turn-extended')).toHaveLength(1)
    expect(of(written, 'approval-pending')).toHaveLength(1)
  })

  it('whose result comes is over: it ran without the verdict, and no other front may run it', async () => {
    const { world } = await waiting()
    const over = await world.write(results('running', { results: [result('a.1')], policy }))
    expect(of(over, 'guest-verdicts').at(-1)?.calls[0]?.verdict).toBe('deny')
    expect(of(over, 'approval-withdrawn')).toHaveLength(1)
    expect(of(over, 'round-outcome')[0]?.results[0]).toMatchObject({ status: 'ok', text: 'a.txt' })
  })

  it('that its front gives up is skipped', async () => {
    const { world } = await waiting()
    const notRun = result('a.1', { status: 'skipped', text: 'not run' })
    const over = await world.write(results('running', { results: [notRun], policy }))
    expect(of(over, 'round-outcome')[0]?.results[0]?.status).toBe('skipped')
    expect(refusedIn(over)).toEqual(['id-0'])
  })

  it('is skipped by a cancel', async () => {
    const { world } = await waiting()
    const over = await world.append('guest-events', {
      type: 'cancel-requested',
      conversation,
      messageId: '',
    })
    expect(of(over, 'guest-verdicts').at(-1)?.calls[0]?.verdict).toBe('deny')
    expect(of(over, 'round-outcome')[0]?.results[0]?.status).toBe('skipped')
  })
})

it('a turn ends by its reply, and the next one begins with an empty memory', async () => {
  const world = openGuestWorld()
  await world.write(request('r1'))
  const over = await world.write(round('t.1', { text: 'There is one file.' }))
  expect(of(over, 'turn-finished')).toEqual([
    expect.objectContaining({
      outcome: 'answered',
      reply: 'There is one file.',
      messageId: 'u1',
    }),
  ])
  expect(of(over, 'guest-carried')).toHaveLength(1)
  const next = await world.write(request('r2', [], { turnKey: 'u2', user: 'and now?' }))
  expect(of(next, 'turn-started')).toHaveLength(1)
})

function refusedIn(messages: Message[]): string[] | undefined {
  const last: GuestAdvice | undefined = of(messages, 'guest-advice').at(-1)
  return last?.denied.map(({ callId }) => callId)
}
