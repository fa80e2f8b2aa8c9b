// weir-agents/guard with its stages, in memory and in a data folder.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type GuardOptions, openGuard } from '../../../client/guard/guard.ts'
import type { Guard } from '../../../client/guard/guest-conversation.ts'
import type { Guard as WeirGuard } from '../../../shared/contract/guard.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall, saidText } from '../../support/guest-requests.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function guardWith(options: Partial<GuardOptions> = {}): Promise<Guard> {
  const guard = await openGuard({ agent: 'coder', answerWithinMs: waitMaxMs, ...options })
  open.push(guard)
  return guard
}

const tools = [
  declarationOf('exec', '', {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  }),
]
const asked = (responses: Said[]) => requestOf('anthropic', [{ user: 'Go.', responses }], tools)
const broken = saidCall('exec', {}, { id: 'same', result: 'error: no command', isError: true })
const good = saidCall('exec', { command: 'ls' }, { id: 'c', result: 'a.ts' })

describe('a guard in memory', () => {
  it('ends an agent that repeats a broken call under one id after 5 requests', async () => {
    const conversation = (await guardWith()).conversation('t')
    const responses: Said[] = []
    const rungs: string[] = []
    for (;;) {
      const request = asked(responses)
      const { rung, judged } = await conversation.beforeModel(request)
      expect(judged).toBe(true)
      rungs.push(rung)
      if (rung === 'end') break
      const [verdict] = await conversation.afterModel(answerOf(request, broken))
      expect(verdict?.verdict).toBe('refuse')
      responses.push(broken)
    }
    expect(rungs).toEqual(['none', 'none', 'none', 'nudge', 'text_only', 'end'])
  })

  it('lets a valid call run, and judges its turn to the end', async () => {
    const conversation = (await guardWith()).conversation('t')
    expect(await conversation.afterModel(answerOf(asked([]), good))).toMatchObject([
      { callId: 'c', verdict: 'run' },
    ])
    const advice = await conversation.beforeModel(asked([good]))
    expect(advice).toMatchObject({ rung: 'none', judged: true })
    expect(await conversation.afterModel(answerOf(asked([good]), saidText('Done.')))).toEqual([])
  })

  it('gives the same answers to repeated requests', async () => {
    const guard = await guardWith()
    const ask = () => guard.conversation('t').beforeModel(asked([broken, broken, broken]))
    const [first, second] = [await ask(), await ask()]
    expect(first.rung).toBe('nudge')
    expect(second).toEqual(first)
  })

  it('puts the advice into a copy of the request', async () => {
    const request = asked([broken, broken, broken])
    const before = JSON.stringify(request.body)
    const advice = await (await guardWith()).conversation('t').beforeModel(request)
    expect(JSON.stringify(request.body)).toBe(before)
    const applied = advice.applied as { messages: { content: unknown[] }[] }
    expect(applied.messages.at(-1)?.content.at(-1)).toEqual({ type: 'text', text: advice.text })
  })

  it('refuses a call by a guard of the program', async () => {
    const noExec: WeirGuard = {
      ...{
        name: 'no-exec',
        version: '1',
        tools: ['exec'],
        deadlineMs: 60_000,
        onTimeout: 'reject',
      },
      judge: (_state, round) => ({
        state: undefined,
        verdicts: round.calls.map(({ ordinal }) => ({
          ...{ ordinal, verdict: 'reject' as const, code: 'no', text: 'Not today.' },
        })),
      }),
    }
    const guard = await guardWith({ guards: { guards: [noExec], mode: 'enforce' } })
    const [verdict] = await guard.conversation('t').afterModel(answerOf(asked([]), good))
    expect(verdict).toMatchObject({
      verdict: 'refuse',
      text: expect.stringContaining('Not today.'),
    })
  })

  it('names the place of a mistake in a history', async () => {
    const conversation = (await guardWith()).conversation('t')
    const body = { messages: [{ role: 'robot' }] }
    await expect(conversation.beforeModel({ format: 'anthropic', body })).rejects.toMatchObject({
      code: 'guest.format',
    })
  })

  it('lets one of forty equal calls of a response run, and refuses the others', async () => {
    const conversation = (await guardWith()).conversation('t')
    const calls = Array.from({ length: 40 }, () => good.calls[0]).flatMap((call) => call ?? [])
    const verdicts = await conversation.afterModel(answerOf(asked([]), { text: '', calls }))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(
      calls.map((_, place) => (place === 0 ? 'run' : 'refuse')),
    )
    expect(verdicts[1]?.code).toBe('guest.repeated')
    const advice = await conversation.beforeModel(asked([{ text: '', calls }]))
    expect(advice.judged).toBe(true)
  })
})

describe('a repeated call before another call of the same id', () => {
  it('takes no verdict of the other call', async () => {
    const conversation = (await guardWith()).conversation('t')
    const calls = [good, good, saidCall('exec', { command: 'pwd' }, { id: 'c' })].flatMap(
      (said) => said.calls,
    )
    const verdicts = await conversation.afterModel(answerOf(asked([]), { text: '', calls }))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['run', 'refuse', 'run'])
  })
})

describe('a guard in a data folder', () => {
  it('knows the rounds of a history after it was closed and opened again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'guard-'))
    open.push({ close: async () => rmSync(folder, { recursive: true }) })
    const first = await guardWith({ dataFolder: folder })
    const conversation = first.conversation('t')
    expect((await conversation.beforeModel(asked([broken, broken, broken]))).rung).toBe('nudge')
    await first.close()
    expect(existsSync(join(folder, 'weir.db'))).toBe(true)
    const second = await guardWith({ dataFolder: folder })
    const advice = await second.conversation('t').beforeModel(asked([broken, broken, broken]))
    expect(advice).toMatchObject({ rung: 'nudge', judged: true })
  })

  it('is not on Kafka too', async () => {
    const options = { agent: 'coder', dataFolder: 'x', kafka: { bootstrapServer: 'h:1' } }
    await expect(openGuard(options)).rejects.toThrow('give dataFolder or kafka, not both')
  })
})
