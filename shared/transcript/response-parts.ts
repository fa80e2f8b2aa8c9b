// A response of a transcript in the form in which the accumulator receives one: its events, the
// reason why it stopped, and the tools that it calls.

import type { AttemptFinished, Declaration, PartEvent } from '../contract/messages.ts'
import { meaningOf } from './finish-reasons.ts'
import { declarationOf, type TranscriptResponse } from './transcript.ts'

export function eventsOf({ text, reasoning, calls }: TranscriptResponse): PartEvent[] {
  const event = (
    kind: PartEvent['kind'],
    index: number,
    text: string,
    id: string | null = null,
    name: string | null = null,
  ): PartEvent => ({ kind, index, id, name, text })
  return [
    ...reasoning.map((block, index) => event('reasoning_block', index, JSON.stringify(block))),
    ...(text === '' ? [] : [event('text', 0, text)]),
    ...calls.flatMap(({ id, name, arguments: raw }, index) => [
      event('call_start', index, '', id, name),
      ...(raw === '' ? [] : [event('call_arguments', index, raw)]),
      event('call_end', index, ''),
    ]),
  ]
}

/** A response with calls stopped for them, because the runtime ran them. */
export function stopOf({ calls, finish }: TranscriptResponse): AttemptFinished['stop'] {
  if (calls.length > 0) return 'calls'
  const meaning = meaningOf(finish)
  return meaning === 'length' || meaning === 'refusal' ? meaning : 'end'
}

/** For a transcript without a list of tools: each called tool accepts any object. */
export function calledIn(responses: readonly Pick<TranscriptResponse, 'calls'>[]): Declaration[] {
  const names = responses.flatMap(({ calls }) => calls.map(({ name }) => name))
  return [...new Set(names)].map((name) => declarationOf(name, undefined, undefined))
}
