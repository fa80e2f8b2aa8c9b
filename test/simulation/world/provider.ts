// A model's provider with the usual behaviour of models and networks. It answers, calls tools well
// and badly, only thinks, sends nothing, loops, and obeys a text-only round or ignores it. It
// fails, stalls and is cut off. The ledger records every request and every streamed event.

import type { Provider } from '../../../services/llm-gateway/performer/providers/providers.ts'
import type { PartEvent, PartKind } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { ProviderRequest, Streamed } from '../../../shared/wire/exchange.ts'
import type { Machine } from '../machine.ts'
import type { Random } from '../random.ts'
import { toolNames } from './agents.ts'
import type { Ledger, ModelStream } from './ledger.ts'
import { onceTool } from './once.ts'
import { childTool, type StartChild } from './trees.ts'

type Answer =
  | 'text'
  | 'call'
  | 'calls'
  | 'text and call'
  | 'same call'
  | 'thinking'
  | 'empty'
  | 'storm'
type Ending = 'finished' | 'cut' | 'broken' | 'stalled' | 'failed'

type Persona = { answers: [number, Answer][]; endings: [number, Ending][]; obeys: number }

const steady: [number, Ending][] = [
  [95, 'finished'],
  [2, 'cut'],
  [1, 'broken'],
  [1, 'stalled'],
  [1, 'failed'],
]
const flaky: [number, Ending][] = [
  [60, 'finished'],
  [10, 'cut'],
  [10, 'broken'],
  [5, 'stalled'],
  [15, 'failed'],
]

const personas: [number, Persona][] = [
  [
    4,
    {
      answers: [
        [5, 'text'],
        [4, 'call'],
        [3, 'calls'],
        [1, 'text and call'],
      ],
      endings: steady,
      obeys: 1,
    },
  ],
  [
    2,
    {
      answers: [
        [1, 'text'],
        [6, 'call'],
        [3, 'calls'],
        [1, 'text and call'],
      ],
      endings: steady,
      obeys: 0.5,
    },
  ],
  [2, { answers: [[1, 'same call']], endings: steady, obeys: 0.7 }],
  [
    1,
    {
      answers: [
        [1, 'thinking'],
        [1, 'empty'],
        [1, 'call'],
      ],
      endings: steady,
      obeys: 0.5,
    },
  ],
  [
    2,
    {
      answers: [
        [3, 'text'],
        [3, 'call'],
        [2, 'calls'],
      ],
      endings: flaky,
      obeys: 0.8,
    },
  ],
]

/**
 * `sleeping`: wakes each stream once the simulation is over. Streams of dead processes sleep for
 * ever. Node keeps every listener of a combined signal for ever, and with it the whole simulation.
 */
export type World = {
  ledger: Ledger
  random: Random
  sleeping: Set<() => void>
  over: boolean
  /** The model repeats the arguments of `send`, a tool that must not run twice. */
  repeatsSends: boolean
  /** Runs the calls that are agents. */
  startChild?: StartChild
}

/** Connects one process to the model. */
export function connectTo(world: World, machine: Machine): Provider {
  const { ledger, random, sleeping } = world
  return {
    async *stream(request, signal, onProgress): AsyncGenerator<Streamed> {
      const last = request.history.at(-1)
      const conversation = last?.conversation ?? '?'
      const stream: ModelStream = {
        conversation,
        turn: last?.turn ?? -1,
        round: (last?.round ?? -1) + 1,
        history: request.history,
        events: [],
        finished: false,
      }
      const serial = ledger.streams.push(stream)
      const persona = random.fork(`persona of ${conversation}`).weighted(personas)
      const ending = random.weighted(persona.endings)
      await sleep(random.between(5, 400))
      if (world.over) return
      if (ending === 'failed') {
        yield random.weighted([
          [3, failed(true, random)],
          [1, failed(false, random)],
        ])
        return
      }
      const isObeyed = request.textOnly && random.chance(persona.obeys)
      const mayStorm = request.tools.some(({ name }) => name === childTool) && !request.textOnly
      const isStorm = mayStorm && random.chance(0.5)
      const planned = plan(
        isObeyed ? 'text' : isStorm ? 'storm' : random.weighted(persona.answers),
        serial,
        random,
        request,
        world.repeatsSends,
      )
      const upTo = ending === 'finished' ? planned.length : random.below(planned.length + 1)
      for (let next = 0; next < upTo; ) {
        const events = planned.slice(next, Math.min(upTo, next + random.between(1, 4)))
        next += events.length
        await sleep(random.chance(0.9) ? random.between(0, 60) : random.between(500, 8000))
        if (signal.aborted || world.over) return
        onProgress()
        stream.events.push(...events)
        yield { kind: 'events', events }
        if (signal.aborted) return
      }
      if (ending === 'stalled') await sleep(3_600_000)
      if (signal.aborted || world.over) return
      if (ending === 'broken') {
        yield {
          kind: 'failed',
          code: 'provider.stream',
          class: 'transient',
          reason: 'the stream broke',
          retryable: true,
          retryAfterMs: null,
        }
        return
      }
      stream.finished = true
      const usage = {
        inputTokens: 50,
        outputTokens: planned.length * 5,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      }
      const hasCall = stream.events.some(({ kind }) => kind === 'call_start')
      yield ending === 'cut'
        ? { kind: 'finished', stop: 'cut', finish: '', usage }
        : {
            kind: 'finished',
            stop: hasCall ? 'calls' : 'end',
            finish: hasCall ? 'tool_use' : 'end_turn',
            usage,
          }

      function sleep(delayMs: Milliseconds): Promise<void> {
        return new Promise((resolve) => {
          const wake = () => machine.after(random.between(0, 5), over)
          function over(): void {
            signal.removeEventListener('abort', wake)
            sleeping.delete(over)
            resolve()
          }
          sleeping.add(over)
          machine.after(delayMs, over)
          signal.addEventListener('abort', wake, { once: true })
        })
      }
    },
  }
}

function failed(retryable: boolean, random: Random): Streamed {
  return retryable
    ? {
        kind: 'failed',
        code: 'provider.unavailable',
        class: 'transient',
        reason: 'overloaded',
        retryable,
        retryAfterMs: random.chance(0.3) ? random.between(100, 20_000) : null,
      }
    : {
        kind: 'failed',
        code: 'provider.refused',
        class: 'deterministic',
        reason: 'bad request',
        retryable,
        retryAfterMs: null,
      }
}

/**
 * The events of a whole answer. It contains the name of its stream, except in answers that may
 * equal others.
 */
function plan(
  answer: Answer,
  serial: number,
  random: Random,
  request: ProviderRequest,
  repeatsSends: boolean,
): PartEvent[] {
  let index = 0
  switch (answer) {
    case 'text':
      return text()
    case 'call':
      return call()
    case 'calls':
      return interleaved(Array.from({ length: random.between(2, 4) }, call), random)
    case 'text and call':
      return [...text(), ...call()]
    case 'storm':
      return Array.from({ length: random.pick([3, 8, 24]) }, (_, n) =>
        callOf(childTool, JSON.stringify({ path: `part ${serial} ${n}` })),
      ).flat()
    case 'same call':
      return callOf('read', '{"path":"the same"}')
    case 'thinking':
      return Array.from({ length: random.between(1, 3) }, () => event('reasoning', `hmm ${serial}`))
    case 'empty':
      return random.chance(0.5) ? [] : [event('text', ' ')]
  }

  function text(): PartEvent[] {
    const at = index++
    return Array.from({ length: random.between(1, 5) }, (_, i) =>
      event('text', `word ${serial}.${i} `, at),
    )
  }

  function call(): PartEvent[] {
    const name = random.chance(0.05)
      ? 'unheard-of'
      : request.tools.length > 0 && random.chance(0.5)
        ? random.pick(request.tools).name
        : random.pick(toolNames)
    if (repeatsSends && name === onceTool && random.chance(0.6))
      return callOf(name, `{"path":"${random.pick(['known', 'other'])}"}`)
    return callOf(
      name,
      random.weighted([
        [
          10,
          JSON.stringify({
            path: `file ${serial} ${random.below(1000)}`,
            more: 'x'.repeat(random.below(40)),
          }),
        ],
        [2, '{"path":"known"}'],
        [1, '{}'],
        [1, ''],
        [1, '{"path":'],
        [1, '{"path":3}'],
        [1, '[]'],
      ]),
    )
  }

  function callOf(name: string, text: string): PartEvent[] {
    const at = index++
    const isWhole = random.chance(0.1)
    const events = [
      event(
        'call_start',
        isWhole ? text : '',
        at,
        name,
        random.chance(0.1) ? 'call-again' : `call-${serial}-${at}`,
      ),
    ]
    if (!isWhole) {
      const middle = random.below(text.length + 1)
      for (const piece of [text.slice(0, middle), text.slice(middle)])
        if (piece !== '') events.push(event('call_arguments', piece, at))
    }
    events.push(event('call_end', '', at))
    return events
  }

  function event(
    kind: PartKind,
    content: string,
    at = 0,
    name: string | null = null,
    id: string | null = null,
  ): PartEvent {
    return { kind, index: at, id, name, text: content }
  }
}

/** Calls may stream at the same time; each keeps its own order. */
function interleaved(lists: PartEvent[][], random: Random): PartEvent[] {
  if (random.chance(0.7)) return lists.flat()
  const events: PartEvent[] = []
  const left = lists.map((list) => [...list])
  for (;;) {
    const some = left.filter((list) => list.length > 0)
    if (some.length === 0) return events
    events.push(random.pick(some).shift() as PartEvent)
  }
}
