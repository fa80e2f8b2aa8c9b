// The echo check between the gateway, which has the history, and the accumulator, which knows the
// dialects of calls in text.

import type { Declaration } from '../messages.ts'

/** `source`: a noun phrase for the model, such as "a result of the tool 'read'". */
export type EarlierText = { source: string; text: string }

/** `text`: the visible text, with thinking in it. `offered`: the tools that it names. */
export type AnsweredText = {
  text: string
  offered: Pick<Declaration, 'name' | 'schema'>[]
  callsAsText: boolean
}

/**
 * The source of the first earlier text that holds a call of the answer. Null: none does, or the
 * answer holds no call.
 */
export type EchoCheck = (answer: AnsweredText, earlier: Iterable<EarlierText>) => string | null
