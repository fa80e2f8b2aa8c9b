// Hides the secrets that a front knows in the records of its guests, before the first write: in texts,
// arguments, results, names and ids. So guards, persons and readers get `[key]` in place of a secret.
// The keys of rounds, turns and requests stay. Its front makes them of the words before
// this, so a call, a repeat and a result keep one identity.
// Two ids with secrets stay two ids, and a result has the id of its call.
// A call whose arguments are no JSON any more never runs.

import { hash } from 'node:crypto'
import type { Call, GuestResult, GuestResults, GuestRound } from '../../shared/contract/messages.ts'
import { isCredential, secretMask } from '../../shared/lib/log/secret-mask.ts'
import { newest } from '../../shared/lib/newest.ts'

type Masked = GuestRound | GuestResults
export type GuestMask = <Record extends Masked>(record: Record) => Record

const word = '[key]'

/** A mask takes longer to make than to apply, and a client sends one key with all its requests. */
const masks = newest<GuestMask>(100)

/** A result hides each secret. Every other text hides those that no honest text contains. */
export function guestMask(secrets: readonly string[]): GuestMask {
  return masks.at(JSON.stringify(secrets), () => maskOf(secrets))
}

function maskOf(secrets: readonly string[]): GuestMask {
  const hide = secretMask(secrets.map((secret) => secret.trim()).filter(isCredential), word)
  const hideInResult = secretMask(secrets, word)

  function maskedId(id: string): string {
    const shown = hide(id)
    return shown === id ? id : `${word}${hash('sha256', id).slice(0, 16)}`
  }

  function maskedCall(call: Call): Call {
    const { raw, repair } = call
    const shown = hide(raw)
    const isLost = shown !== raw && call.problem === null && !isJson(shown)
    return {
      ...call,
      id: maskedId(call.id),
      name: hide(call.name),
      raw: shown,
      problem: isLost ? 'invalid_json' : call.problem,
      repair: repair && { ...repair, sent: hide(repair.sent) },
    }
  }

  function maskedResult(result: GuestResult): GuestResult {
    const { callId, text, shown } = result
    return {
      ...result,
      callId: maskedId(callId),
      text: hideInResult(text),
      shown: shown && hide(shown),
    }
  }

  function maskedRound({ response, offered, declarations, ...round }: GuestRound): GuestRound {
    const { text, reasoning, finish, textCalls, calls } = response
    return {
      ...round,
      offered: offered.map(hide),
      declarations: declarations.map((tool) => ({
        ...tool,
        name: hide(tool.name),
        description: hide(tool.description),
        schema: hide(tool.schema),
      })),
      response: {
        ...response,
        text: hide(text),
        reasoning: hide(reasoning),
        finish: hide(finish),
        textCalls: textCalls && { ...textCalls, fault: textCalls.fault && hide(textCalls.fault) },
        calls: calls.map(maskedCall),
      },
    }
  }

  function maskedResults({ former, ...results }: GuestResults): GuestResults {
    return {
      ...results,
      results: results.results.map(maskedResult),
      former: former && { ...former, results: former.results.map(maskedResult) },
      refusal: hide(results.refusal),
    }
  }

  return <Record extends Masked>(record: Record): Record => {
    const own = { ...record, user: record.user && hide(record.user) }
    const masked: Masked = own.type === 'guest-round' ? maskedRound(own) : maskedResults(own)
    return masked as Record
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
