// The open turn of a guest's history, as its front sends it: the user's text, and the rounds with
// their keys and results. Pure. A front remembers nothing, so it reads this from each request.
// GUEST-HISTORY-1. A round counts the rounds with the same words before it in its turn. A later
//     history of the same turn therefore gives it the same key.
// GUEST-HISTORY-2. Responses before the first text of a user are a turn whose text is unknown.

import { hash } from 'node:crypto'
import { emptyResponse, foldResponse } from '../../services/accumulator/response.ts'
import type { GuestHints } from '../../shared/agents/guest.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Declaration,
  GuestResult,
  Response,
  ToolHints,
} from '../../shared/contract/messages.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { calledIn, eventsOf, stopOf } from '../../shared/transcript/response-parts.ts'
import { roundKey, wordsHash } from '../../shared/transcript/round-key.ts'
import {
  type Piece,
  type TranscriptResponse,
  type TranscriptTurn,
  turnsOf,
} from '../../shared/transcript/transcript.ts'
import { readAnswer, readRequest } from './formats.ts'
import type { GuestAnswer, GuestRequest } from './guest-conversation.ts'
import { knownWordsHash } from './known-words.ts'
import { withoutReminders } from './reminders.ts'

/** A round in a history. `results`: of its calls, as far as the history has them. */
export type HistoryRound = { key: string; spoken: TranscriptResponse; results: GuestResult[] }

/**
 * `turnKey`: made from the number of the user's messages and the last one. `counts`: how often each
 * hash of words has occurred. `rounds`: the last ones, oldest first.
 */
export type GuestHistory = {
  turnKey: string
  user: string | null
  rounds: HistoryRound[]
  counts: ReadonlyMap<string, number>
  tools: Declaration[] | undefined
}

/** The history of a request. Throws `guest.format`. */
export function historyOf(request: GuestRequest): GuestHistory {
  const { pieces, tools } = readRequest(request)
  const first = pieces.find(({ kind }) => kind !== 'left-out' && kind !== 'ended')
  const isUnknown = first !== undefined && first.kind !== 'user'
  // Keeps GUEST-HISTORY-2.
  const known: Piece[] = isUnknown ? [{ kind: 'user', text: '' }, ...pieces] : pieces
  const turns = turnsOf('body', known, { leave: () => {} })
  const turn = turns.at(-1) ?? { user: '', responses: [] }
  const user = turns.length === 0 || (isUnknown && turns.length === 1) ? null : turn.user
  const counts = new Map<string, number>()
  const hashes = turn.responses.map((response) => {
    const words = knownWordsHash(response)
    const n = (counts.get(words) ?? 0) + 1
    counts.set(words, n)
    return roundKey(words, n)
  })
  const from = Math.max(turn.responses.length - limits.guestKeysMax, 0)
  return {
    turnKey: turnKeyOf(turns),
    user: user === null ? null : cutToBytes(user, limits.userMessageBytesMax),
    rounds: turn.responses.slice(from).map((spoken, at) => {
      const key = hashes[from + at] as string
      return { key, spoken, results: resultsOf(key, spoken) }
    }),
    counts,
    tools,
  }
}

/** The round that an answer makes behind its request's history. Throws `guest.format`. */
export function answeredRound(
  { request, answer }: GuestAnswer,
  { counts }: Pick<GuestHistory, 'counts'>,
): { spoken: TranscriptResponse; words: string; n: number } {
  const spoken = spokenIn(readAnswer(request.format, answer))
  const words = wordsHash(spoken)
  return { spoken, words, n: (counts.get(words) ?? 0) + 1 }
}

/** All pieces of an answer are one response. */
function spokenIn(pieces: Piece[]): TranscriptResponse {
  const begins = pieces.findIndex(({ kind }) => kind === 'response')
  const one: Piece[] = [
    { kind: 'user', text: '' },
    { kind: 'response', id: undefined },
    ...pieces.filter(({ kind }, at) => kind !== 'response' || at === begins),
  ]
  const [turn] = turnsOf('answer', one, { leave: () => {} })
  return (turn as TranscriptTurn).responses.at(-1) as TranscriptResponse
}

/** The response of a round, with its key in place of an attempt. */
export function responseOf(spoken: TranscriptResponse, key: string): Response {
  const { finish, usage } = spoken
  const finished = { attempt: key, stop: stopOf(spoken), finish, usage }
  const { response } = foldResponse([eventsOf(spoken)], finished, [])
  return response.attempt === key ? response : emptyResponse(finished)
}

/**
 * The tools that a round's record carries: those that its response names. Nobody knows how long a
 * tool of a guest runs, so each one may take as long as any.
 */
export function toolsFor(
  spoken: Pick<TranscriptResponse, 'calls'>,
  tools: Declaration[] | undefined,
  hints: Readonly<Record<string, GuestHints>>,
): { offered: string[]; declarations: Declaration[] } {
  const listed = tools ?? calledIn([spoken])
  const named = new Set(spoken.calls.map(({ name }) => name))
  return {
    offered: listed.map(({ name }) => name),
    declarations: listed
      .filter(({ name }) => named.has(name))
      .map((declaration) => {
        const own = Object.hasOwn(hints, declaration.name) ? hints[declaration.name] : undefined
        const { poll = false, ...rest } = own ?? {}
        return {
          ...declaration,
          ...{ poll, timeoutMs: limits.toolTimeoutMsMax },
          hints: own === undefined ? null : (rest as ToolHints),
        }
      }),
  }
}

/** Of the calls that the round has: one that comes twice, with the same words, counts once. */
function resultsOf(key: string, { calls }: TranscriptResponse): GuestResult[] {
  const seen = new Map<string, number>()
  const sent = new Set<string>()
  return calls.flatMap(({ id, name, arguments: args, result }) => {
    const words = JSON.stringify([id, name, args])
    if (id !== '' && sent.has(words)) return []
    sent.add(words)
    const nth = seen.get(id) ?? 0
    seen.set(id, nth + 1)
    if (result === undefined) return []
    const ended =
      result === 'unknown'
        ? ({ status: 'outcome_unknown', text: '' } as const)
        : ({ status: result.isError ? 'error' : 'ok', text: result.text } as const)
    const text = cutToBytes(ended.text, limits.resultBytesMax)
    return [{ key, callId: id, nth, status: ended.status, text, durationMs: 0 }]
  })
}

const turnTextDigits = 12

/** `u`, the number of the user's messages, and a hash of the last one without reminders. */
function turnKeyOf(turns: readonly TranscriptTurn[]): string {
  const text = withoutReminders(turns.at(-1)?.user ?? '')
  return `u${turns.length}:${hash('sha256', text).slice(0, turnTextDigits)}`
}
