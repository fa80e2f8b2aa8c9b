// The meaning of a provider's error, by its status, codes and wording. There is no standard: each
// sign is in use by a server. Add a new one to the vendor's faults.ts and to the test. An unknown error
// stays a refusal, or a failure with a retry, with the provider's text.
// All signs count for every server: a gateway passes on the errors of servers after it.

import type { ReasoningRefusal } from '../../contract/messages.ts'
import { anthropicFaults } from '../anthropic/faults.ts'
import { geminiFaults } from '../gemini/faults.ts'
import { openaiFaults } from '../openai/faults.ts'
import { type Faults, type Meaning, reasoningPlace, type Sign } from './faults.ts'

/**
 * `status`: undefined for an error inside an answer. `words`: its types and codes. `statement`: its
 * message.
 */
export type Reported = {
  status: number | undefined
  words?: readonly unknown[]
  statement: string
}

const table: readonly Faults[] = [anthropicFaults, openaiFaults, geminiFaults]

/** In order: the more specific wordings first. */
const reasoningMeanings = ['unsigned', 'damaged', 'missing', 'unaccepted'] as const

const isOfRequest = (status?: number) => status === undefined || status === 400 || status === 422
/** A gateway may report the refusal of the server after it as a failure. */
const isOfReasoning = (status?: number) => isOfRequest(status) || status === 500 || status === 502
/** Whether an error with this status can have the meaning. Absent: with any. */
const fits: Partial<Record<Meaning, (status?: number) => boolean>> = {
  'context-full': (status = 0) => ![401, 403, 429].includes(status), // 429 is about a rate, even if it counts tokens
  history: isOfRequest,
  unsigned: isOfReasoning,
  damaged: isOfReasoning,
  missing: isOfReasoning,
  unaccepted: isOfReasoning,
}

export function hasMeaning(meaning: Meaning, { status, words = [], statement }: Reported): boolean {
  if (fits[meaning]?.(status) === false) return false
  const isSign = (sign: Sign): boolean => {
    if (sign instanceof RegExp) return sign.test(statement)
    return typeof sign === 'number' ? sign === status : words.includes(sign)
  }
  return table.some((faults) => faults[meaning]?.some(isSign) ?? false)
}

const namesReasoning = new RegExp(
  `${reasoningPlace}|thought signature|encrypted content|\\bof type 'reasoning'|'reasoning' item`,
  'i',
)
/** Some servers quote the whole request. */
const statementCharsMax = 65_536

/** Only if the request itself may be refused: another attempt would be refused like this one. */
export function reasoningRefusalIn({ status, statement: whole }: Reported): ReasoningRefusal {
  const statement = whole.slice(0, statementCharsMax)
  if (!namesReasoning.test(statement)) return 'none'
  return reasoningMeanings.find((means) => hasMeaning(means, { status, statement })) ?? 'none'
}

/**
 * Whether the provider may have refused the content of the request and not its sender. Any 400 may
 * be about tools: wordings vary, and the request is sent at most once more. `tools`: the message
 * mentions them.
 */
export function formRefusedBy({ status, statement }: Reported): 'tools' | 'unsaid' | undefined {
  const speaksOfTools = /tool|function/i.test(statement)
  if (status === 400 || status === 422) return speaksOfTools ? 'tools' : 'unsaid'
  // OpenRouter: 404, No endpoints found that support the provided 'tool_choice' value.
  return speaksOfTools && (status === undefined || status === 404 || status === 501)
    ? 'tools'
    : undefined
}
