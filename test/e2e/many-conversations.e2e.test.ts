// Thirty conversations at once over two partitions, each with its own behaviour. All end as
// expected, and none ever sees a part of another.

import { describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { Block, ModelCall } from '../../client/testing/anthropic-stream.ts'
import type { HistoryEntry } from '../../shared/contract/messages.ts'
import { expectInvariants } from '../support/invariants.ts'
import { withPipeline } from '../support/pipeline.ts'
import { quickTool } from '../support/quick-tool.ts'
import { call, says, text, textsOf } from '../support/script.ts'

const soon = { 'retry-after-ms': '10' }

type Behaviour = {
  outcome: string
  class?: string
  starts: number
  model: (name: string, round: number) => Reply
}

const act = (name: string, n: number): Block =>
  call('act', { command: `${name} ${n}`, answer: `${name} did ${n}` })
const done = (name: string): Reply => says(text(`This is ${name}.`))

/** The model's behaviour in the rounds of a turn, from 1. */
const behaviours: Record<string, Behaviour> = {
  answers: { outcome: 'answered', starts: 0, model: done },
  works: {
    outcome: 'answered',
    starts: 3,
    model: (name, round) =>
      round === 1
        ? says(act(name, 1), act(name, 2))
        : round === 2
          ? says(act(name, 3))
          : done(name),
  },
  loops: {
    outcome: 'answered',
    starts: 0,
    model: (name, round) => (round <= 3 ? says(call('act', {})) : done(name)),
  },
  fails: {
    outcome: 'failed',
    class: 'refused',
    starts: 1,
    model: (name, round) =>
      round === 1 ? says(act(name, 1)) : { kind: 'error', status: 400, message: `no, ${name}` },
  },
  stutters: {
    outcome: 'answered',
    starts: 1,
    model: (name, round) => (round === 1 ? says(act(name, 1)) : done(name)),
  },
  floods: {
    outcome: 'answered',
    starts: 0,
    model: (name, round) =>
      round === 1
        ? says({
            ...call('act', `{"x":"${name}${'y'.repeat(200_000)}`),
            pieceChars: 5_000,
          } as Block)
        : done(name),
  },
}

const names = Object.keys(behaviours).flatMap((kind) =>
  Array.from({ length: 5 }, (_, i) => `${kind}-${i}`),
)
const behaviourOf = (name: string) => behaviours[name.split('-')[0] as string] as Behaviour

describe('thirty conversations at once', () => {
  it('all end as expected, twice in a row, and never mix', async () => {
    const stuttered = new Set<string>()
    const model = (request: ModelCall): Reply => {
      const [name = ''] = textsOf(request)
      if (name.startsWith('stutters') && !stuttered.has(JSON.stringify(request.messages))) {
        stuttered.add(JSON.stringify(request.messages))
        return { kind: 'error', status: 529, message: 'busy', headers: soon }
      }
      // A failed turn has no round after the failed one. So rounds are counted from the user's newest
      // message.
      const since = request.messages.findLastIndex(
        ({ role, content }) =>
          role === 'user' && JSON.stringify(content).includes(`"text":"${name}"`),
      )
      return behaviourOf(name).model(
        name,
        request.messages.slice(since).filter(({ role }) => role === 'assistant').length + 1,
      )
    }
    const tools = (file: string) => [quickTool({ name: 'act', required: ['command'] }, file)]
    await withPipeline({ model, tools }, async (pipeline) => {
      for (const turn of ['first', 'second']) {
        const ends = await Promise.all(
          names.map((name) => pipeline.ask(name, { conversation: name, messageId: turn })),
        )
        for (const [i, { finished, activity }] of ends.entries()) {
          const name = names[i] as string
          const { outcome, class: failureClass, starts } = behaviourOf(name)
          expect([name, finished.outcome, finished.class]).toEqual([
            name,
            outcome,
            failureClass ?? null,
          ])
          expect(finished.reply).toBe(
            outcome === 'answered' ? `This is ${name}.` : 'This is the fallback.',
          )
          expect(activity.filter(({ conversation }) => conversation !== name)).toEqual([])
          expect(activity.filter(({ type }) => type === 'tool-started')).toHaveLength(starts)
        }
      }
      await expectInvariants(pipeline)
      const history = (await pipeline.records('history')) as HistoryEntry[]
      for (const entry of history) expectOwn(entry.conversation, JSON.stringify(entry))
      for (const request of pipeline.server.requests)
        expectOwn(textsOf(request)[0] as string, JSON.stringify(request.messages))
      const partitions = new Set(
        (await pipeline.bus.ends('weir.activity'))
          .filter(({ end }) => end > 0)
          .map(({ partition }) => partition),
      )
      expect(partitions.size).toBe(2)
    })
  })
})

/** Expects no other conversation's name in the text. */
function expectOwn(name: string, written: string): void {
  expect(names).toContain(name)
  const others = names.filter((other) => other !== name)
  expect(others.filter((other) => written.includes(other))).toEqual([])
}
