// Guards over the whole pipeline: real stages on a real file, a scripted model, and real processes
// as tools. A rejected call never starts: the tools write their starts to a file, which proves it.

import { describe, expect, it } from '@jest/globals'
import { decode } from '../../shared/codec/codec.ts'
import type { Guard } from '../../shared/contract/guard/guard.ts'
import type { GuardMode, GuardVerdict, Message } from '../../shared/contract/messages.ts'
import { guardKeyPrefix } from '../../shared/contract/topology.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { guardSetting, switchGuard } from '../../shared/runtime/guards/guard-registry.ts'
import { type RunningGuards, startGuards } from '../../shared/runtime/guards/start-guards.ts'
import { removeStored } from '../../shared/runtime/settings/operator-setting.ts'
import { until } from '../support/inbox.ts'
import { type Pipeline, withPipeline } from '../support/pipeline.ts'
import { call, says, script, text } from '../support/script.ts'

const log = createLog({ level: 'silent' })
const retentionMs = 7 * 24 * 3_600_000

/** Stops commands that remove something, and counts the calls of a conversation. */
const noRemoval: Guard<{ seen: number }> = {
  name: 'no-removal',
  version: '1',
  tools: ['exec'],
  deadlineMs: 20_000,
  onTimeout: 'deny',
  judge: (state = { seen: 0 }, { calls }) => ({
    state: { seen: state.seen + calls.length },
    verdicts: calls.map(({ ordinal, arguments: { command } }) =>
      String(command).startsWith('rm')
        ? {
            ordinal,
            verdict: 'deny',
            code: 'removes',
            text: `Nothing may be removed; ${state.seen} calls were seen before.`,
          }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

function start(
  { wiring }: Pipeline,
  guards: Guard<never>[] | Guard[],
  mode?: GuardMode,
): Promise<RunningGuards> {
  return startGuards({ ...wiring, retentionMs, guards: guards as Guard[], mode, log })
}

const verdictsOf = async ({ bus, wiring }: Pipeline, guard: string): Promise<GuardVerdict[]> => {
  const topic = `${wiring.topicPrefix}guard-verdicts.${guard}`
  const all: Message[] = []
  for (const { partition } of await bus.ends(topic))
    for (const { value } of await bus.read({ topic, partition, from: 0, limit: 1_000 }))
      all.push(decode(value as Uint8Array))
  return all as GuardVerdict[]
}
const typesOf = (messages: { type: string }[]) =>
  messages
    .map(({ type }) => type)
    .filter((type) => /guard|waiting|tool-started|call-finished/.test(type))

describe('a guard', () => {
  const model = script(
    says(call('exec', { command: 'ls' }), call('exec', { command: 'rm -rf /' })),
    says(text('Done.')),
    says(call('exec', { command: 'rm -rf /tmp' })),
    says(text('Done again.')),
    says(call('exec', { command: 'rm x' })),
    says(text('Once more.')),
  )

  it('stops denied calls while it enforces, only watches as a shadow, and does nothing once removed', async () => {
    await withPipeline({ model }, async (pipeline) => {
      const guards = await start(pipeline, [noRemoval], 'enforce')
      const { activity } = await pipeline.ask('first')
      expect(typesOf(activity)).toEqual([
        'calls-waiting',
        'guard-verdict-given',
        'call-finished',
        'tool-started',
        'call-finished',
      ])
      expect(activity.filter(({ type }) => type === 'call-finished')).toMatchObject([
        { ordinal: 1, status: 'denied', reason: 'vetoed by guard no-removal: removes' },
        { ordinal: 0, status: 'ok' },
      ])
      expect(JSON.stringify(pipeline.server.requests[1])).toContain(
        'Nothing may be removed; 0 calls were seen before.',
      )
      expect(await pipeline.starts()).toHaveLength(1)

      await switchGuard(pipeline.wiring, 'no-removal', { mode: 'shadow', by: 'test' })
      const second = await pipeline.ask('second')
      expect(typesOf(second.activity)).toEqual(['tool-started', 'call-finished'])
      expect(await pipeline.starts()).toHaveLength(2)
      await until(async () => (await verdictsOf(pipeline, 'no-removal')).length === 2)

      await removeStored(guardSetting, pipeline.wiring, { id: 'no-removal', by: 'test' })
      await pipeline.ask('third')
      expect(await pipeline.starts()).toHaveLength(3)
      await guards.close()
      const verdicts = await verdictsOf(pipeline, 'no-removal')
      expect(
        verdicts.map(({ enforces, verdicts }) => [
          enforces,
          verdicts.map(({ verdict }) => verdict),
        ]),
      ).toEqual([
        [
          [0, 1],
          ['allow', 'deny'],
        ],
        [[], ['deny']],
      ])
      expect(verdicts[1]?.verdicts[0]?.text).toBe(
        'Nothing may be removed; 2 calls were seen before.',
      )
    })
  })

  it('that nobody runs has its calls vetoed at its deadline, or passed if that is its on-timeout', async () => {
    const two = script(
      says(call('exec', { command: 'ls' })),
      says(text('Vetoed.')),
      says(call('exec', { command: 'ls' })),
      says(text('Ran.')),
    )
    await withPipeline({ model: two }, async (pipeline) => {
      const silent: Guard = { ...(noRemoval as Guard), deadlineMs: 300 }
      await (await start(pipeline, [silent], 'enforce')).close()
      const { activity } = await pipeline.ask('first')
      expect(activity.find(({ type }) => type === 'call-finished')).toMatchObject({
        status: 'denied',
        reason: 'vetoed by guard no-removal: guard.silent',
      })
      await (
        await startGuards({
          ...pipeline.wiring,
          retentionMs,
          guards: [{ ...silent, onTimeout: 'allow' }],
          replace: true,
          log,
        })
      ).close()
      const second = await pipeline.ask('second')
      expect(second.activity.find(({ type }) => type === 'guard-verdict-given')).toMatchObject({
        answer: 'silent',
        verdicts: [{ verdict: 'allow' }],
      })
      expect(await pipeline.starts()).toHaveLength(1)
    })
  })

  it('that throws, loops for ever or answers nonsense stops the call, and judges the next round', async () => {
    const hangs = script(
      ...['throw', 'loop', 'nonsense', 'good'].flatMap((command) => [
        says(call('exec', { command })),
        says(text(command)),
      ]),
    )
    const bad: Guard = {
      ...(noRemoval as Guard),
      judge(state, round) {
        const command = round.calls[0]?.arguments.command
        if (command === 'throw') throw new Error('no idea')
        if (command === 'loop') for (;;);
        if (command === 'nonsense') return 'yes' as never
        return {
          state,
          verdicts: round.calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
        }
      },
    }
    await withPipeline({ model: hangs }, async (pipeline) => {
      const guards = await start(pipeline, [bad], 'enforce')
      const reasons: unknown[] = []
      for (const message of ['a', 'b', 'c', 'd']) {
        const { activity } = await pipeline.ask(message)
        reasons.push(activity.flatMap((one) => (one.type === 'call-finished' ? [one.reason] : [])))
      }
      expect(reasons).toEqual([
        ['vetoed by guard no-removal: guard.threw'],
        ['vetoed by guard no-removal: guard.stuck'],
        ['vetoed by guard no-removal: guard.unusable'],
        [''],
      ])
      await guards.close()
    })
  })

  it('with an unreadable registration blocks every model request, with the reason, until its removal', async () => {
    await withPipeline(
      { model: script(says(text('Hello.'))), settings: { attempts: 1 } },
      async (pipeline) => {
        const { bus, wiring } = pipeline
        await bus.append([
          {
            topic: `${wiring.topicPrefix}policies`,
            partition: 0,
            key: `${guardKeyPrefix}odd`,
            value: Buffer.from('nonsense'),
          },
        ])
        expect((await pipeline.ask('first')).finished).toMatchObject({
          outcome: 'failed',
          reason: expect.stringMatching(/policies/),
        })
        await removeStored(guardSetting, wiring, { id: 'odd', by: 'test' })
        expect((await pipeline.ask('second')).finished).toMatchObject({ reply: 'Hello.' })
      },
    )
  })

  it('sends its own intervention to the model', async () => {
    const wishing: Guard = {
      ...(noRemoval as Guard),
      judge: (state, { calls }) => ({
        state,
        verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
        intervention: { reason: 'it lists too much', text: 'List less.' },
      }),
    }
    await withPipeline(
      { model: script(says(call('exec', { command: 'ls' })), says(text('Done.'))) },
      async (pipeline) => {
        const guards = await start(pipeline, [wishing], 'enforce')
        const { activity } = await pipeline.ask('first')
        expect(activity.some(({ type }) => type === 'intervention-raised')).toBe(true)
        expect(JSON.stringify(pipeline.server.requests[1]?.system)).toContain('List less.')
        await guards.close()
      },
    )
  })
})
