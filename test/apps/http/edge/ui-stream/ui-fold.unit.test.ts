// The chunks of a turn, read by the AI SDK itself.

import { describe, expect, it } from '@jest/globals'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { createUiFold } from '../../../../../apps/http/edge/ui-stream/ui-fold.ts'
import type { TurnEvent } from '../../../../../client/weir.ts'
import { answered, event, pending } from '../turn-of-events.ts'

/** The message that a page shows after these events. */
async function messageOf(...events: TurnEvent[]): Promise<UIMessage> {
  const fold = createUiFold()
  const chunks: UIMessageChunk[] = events.flatMap(fold.add)
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({
    stream: ReadableStream.from(chunks),
    terminateOnError: true,
  }))
    last = message
  return last as UIMessage
}

const partsOf = async (...events: TurnEvent[]) => (await messageOf(...events)).parts
const round = (number = 1) => event({ type: 'round-started', round: number })
const text = (given: string, number = 1) =>
  event({ type: 'text-delta', text: given, round: number })
const end = (fields = {}) => event({ type: 'turn-finished', ...fields })
const callId = 'call-7-1-0'

describe('the message of a turn', () => {
  it('has the reasoning and the text of each round in a step', async () => {
    const message = await messageOf(
      event({ type: 'turn-started' }),
      round(),
      event({ type: 'reasoning-delta', text: 'Hm' }),
      event({ type: 'reasoning-delta', text: 'm.' }),
      text('All '),
      text('is well.'),
      answered('All is well.'),
      end({ reply: 'All is well.' }),
    )
    expect(message).toMatchObject({ id: 'turn-7', role: 'assistant' })
    expect(message.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hmm.', state: 'done' },
      { type: 'text', text: 'All is well.', state: 'done' },
      { type: 'data-weir-turn', data: { outcome: 'answered', turn: 7 } },
    ])
  })

  it('loses the text of an attempt that was void, and keeps the interventions', async () => {
    const parts = await partsOf(
      event({ type: 'turn-started' }),
      round(),
      text('Half'),
      event({
        type: 'intervention-raised',
        shadow: true,
        intervention: { action: 'nudge', rule: 'same-answer', reason: 'again', class: null },
      }),
      event({ type: 'text-reset' }),
      text('Whole'),
      answered('Whole'),
      end({ reply: 'Whole' }),
    )
    expect(parts).toMatchObject([
      { type: 'step-start' },
      { type: 'data-weir-intervention', data: { rule: 'same-answer', shadow: true } },
      { type: 'text', text: 'Whole' },
      { type: 'data-weir-turn' },
    ])
  })

  it('has calls whose provider repeats an id as different calls', async () => {
    const parts = await partsOf(
      event({ type: 'turn-started' }),
      round(),
      answered('', { x: 1 }, { x: 2 }),
      event({ type: 'call-finished', result: 'one' }),
      event({ type: 'call-finished', ordinal: 1, status: 'timed_out', reason: 'too slow' }),
      end(),
    )
    expect(parts).toMatchObject([
      { type: 'step-start' },
      { toolCallId: callId, toolName: 'look', input: { x: 1 }, output: 'one' },
      { toolCallId: 'call-7-1-1', state: 'output-error', errorText: 'too slow' },
      { type: 'data-weir-turn' },
    ])
  })

  it('shows a refused call with its arguments as sent and the reason', async () => {
    const parts = await partsOf(
      event({ type: 'turn-started' }),
      round(),
      answered('', null),
      event({ type: 'call-denied', rawArguments: '{bad', text: 'No JSON.' }),
      event({ type: 'call-finished', status: 'denied', result: 'No JSON.' }),
      end(),
    )
    expect(parts[1]).toMatchObject({ state: 'output-error', input: '{bad', errorText: 'No JSON.' })
    expect(parts).toHaveLength(3)
  })

  it('shows an approval as requested, decided and run', async () => {
    const before = [event({ type: 'turn-started' }), round(), answered('', {}), pending()]
    const decided = event({ type: 'approval-decided', outcome: 'allow', by: 'ada' })
    expect((await partsOf(...before))[1]).toMatchObject({
      state: 'approval-requested',
      approval: { id: 'k7f3', requestReason: 'ask-first' },
    })
    expect((await partsOf(...before, decided))[1]).toMatchObject({
      state: 'approval-responded',
      approval: { approved: true },
    })
    const run = event({ type: 'call-finished', result: 'done' })
    expect((await partsOf(...before, decided, run))[1]).toMatchObject({
      state: 'output-available',
      output: 'done',
    })
  })

  const reason = 'vetoed by guard approval: approval.expired'
  it.each([
    ['deny', { state: 'output-denied', approval: { approved: false, reason: 'no' } }],
    ['expired', { state: 'output-error', errorText: reason }],
  ])('shows an approval that was %s by that outcome', async (outcome, shown) => {
    const parts = await partsOf(
      ...[event({ type: 'turn-started' }), round(), answered('', {}), pending()],
      event({ type: 'approval-decided', outcome, reason: 'no' }),
      event({ type: 'call-finished', status: 'denied', reason, guard: 'approval' }),
    )
    expect(parts[1]).toMatchObject(shown)
  })

  it("shows a guard's veto as a denial without a person", async () => {
    const parts = await partsOf(
      ...[event({ type: 'turn-started' }), round(), answered('', {})],
      event({
        type: 'call-finished',
        status: 'denied',
        reason: 'vetoed by guard a: forbidden',
        guard: 'a',
      }),
    )
    expect(parts[1]).toMatchObject({
      state: 'output-denied',
      approval: { isAutomatic: true, approved: false, reason: 'vetoed by guard a: forbidden' },
    })
  })

  it.each([
    ['failed', 'provider', 'error'],
    ['failed', 'refused', 'content-filter'],
    ['capped', 'budget', 'length'],
    ['cancelled', 'cancelled', 'interrupted'],
  ])('of a turn that is %s by %s ends with the reply of Weir', async (outcome, failure, reason) => {
    const events = [
      ...[event({ type: 'turn-started' }), round(), text('Half'), answered('Half', {})],
      end({ outcome, class: failure, reply: 'I could not finish.', reason: 'why' }),
    ]
    const parts = await partsOf(...events)
    expect(parts).toMatchObject([
      { type: 'step-start' },
      { text: 'Half' },
      { state: 'output-error' },
      { type: 'step-start' },
      { text: 'I could not finish.' },
      { type: 'data-weir-turn', data: { outcome, class: failure, reason: 'why' } },
    ])
    const fold = createUiFold()
    const chunks = events.flatMap(fold.add)
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: reason })
    expect(chunks.some(({ type }) => type === 'abort')).toBe(outcome === 'cancelled')
  })
})

describe('a turn', () => {
  const fold = () => {
    const one = createUiFold()
    for (const each of [event({ type: 'turn-started' }), round(), answered('', {}, {})])
      one.add(each)
    return one
  }

  it('is paused when a call waits for a person, until the decision', () => {
    const { add, paused } = fold()
    expect(paused()).toEqual([])
    add(pending())
    expect(paused()).toMatchObject([{ id: 'k7f3', callId }])
    add(event({ type: 'approval-decided', outcome: 'allow' }))
    expect(paused()).toEqual([])
  })

  it('is not paused while another call runs', () => {
    const { add, paused } = fold()
    add(event({ type: 'tool-started', ordinal: 1 }))
    add(pending())
    expect(paused()).toEqual([])
    add(event({ type: 'call-finished', ordinal: 1 }))
    expect(paused()).toMatchObject([{ id: 'k7f3' }])
  })

  it('shows no call that waits after a call for a person', () => {
    const { add } = fold()
    expect(add(pending()).map((chunk) => 'toolCallId' in chunk && chunk.toolCallId)).toEqual([
      callId,
      callId,
    ])
  })
})
