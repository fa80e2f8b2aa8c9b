// The open turn of a guest's history, as its front sends it: the user's text, and the rounds with
// their keys and results. A front remembers nothing, so it reads this from each request.
// A round counts the rounds with the same words before it in its turn. A later
// history of the same turn therefore gives it the same key.
// Responses before the first text of a user are a turn whose text is unknown.
// A reader reads only the items after those that it has read already and that are
// the same in every value. The result is that of reading all of them.

import { hash } from 'node:crypto'
import { emptyResponse, foldResponse } from '../../../services/accumulator/response.ts'
import type { GuestHints } from '../../../shared/agents/guest.ts'
import { errorLine } from '../../../shared/contract/call/error-line.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  Declaration,
  GuestResult,
  Response,
  ToolHints,
} from '../../../shared/contract/messages.ts'
import { hostNamed } from '../../../shared/hosts/hosts.ts'
import {
  argumentsAsRun,
  argumentsRead,
  type HostRewriting,
} from '../../../shared/hosts/rewriting.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { newest } from '../../../shared/lib/newest.ts'
import { occurrences } from '../../../shared/lib/text/occurrences.ts'
import { cutToBytes } from '../../../shared/lib/text-cut.ts'
import { roundKey, type Words, wordsHash } from '../../../shared/transcript/round-key.ts'
import {
  addPieces,
  calledIn,
  emptyTranscript,
  eventsOf,
  type Piece,
  type ReadTurns,
  stopOf,
  type TranscriptResponse,
  type TranscriptTurn,
  turnsOf,
} from '../../../shared/transcript/transcript.ts'
import { formatNamed } from '../../../shared/wire/formats.ts'
import { itemsOf, readAnswer, readRequest } from '../formats.ts'
import type {
  AnyGuestAnswer,
  AnyGuestRequest,
  GuestRequest,
  ReadGuestRequest,
} from '../guest-conversation.ts'
import { addLeaves, afterLeaves, type Leaves } from './json-leaves.ts'
import { withoutReminders } from './reminders.ts'

/** Characters and values of the histories that a front's process keeps read. */
const guestHistoriesSizeMax = 32 * 1024 * 1024

/** A round in a history. `results`: of its calls, as far as the history has them, made when read. */
export type HistoryRound = {
  key: string
  spoken: TranscriptResponse
  readonly results: GuestResult[]
}

/**
 * `turnKey`: made from the number of the user's messages and the last one. `counts`: how often each
 * hash of words has occurred. `rounds`: the last ones, oldest first. `former`: the turn before, if it
 * ended with calls and no response has come since.
 */
export type GuestHistory = {
  turnKey: string
  user: string | null
  rounds: HistoryRound[]
  former: { turnKey: string; rounds: HistoryRound[] } | undefined
  counts: ReadonlyMap<string, number>
  tools: readonly Declaration[] | undefined
}

/** The history of a request. Throws `guest.format`. */
export function historyOf(request: AnyGuestRequest): GuestHistory {
  const { pieces, tools } = readRequest(request)
  const read = begin(pieces)
  return historyIn(read, tools, request)
}

/** Reads the histories of conversations, which grow from request to request. */
export type HistoryReader = {
  /**
   * As historyOf. `counts` is valid until the next read of the conversation.
   */
  read(conversation: string, request: AnyGuestRequest): GuestHistory
}

export function historyReader(): HistoryReader {
  const known = newest<KnownHistory>(guestHistoriesSizeMax, ({ size }) => size)

  /** Undefined: the request does not go on from the known history. */
  function goOn(history: KnownHistory | undefined, request: GuestRequest, items: unknown[]) {
    if (history?.format !== request.format || !isBeginning(history, items)) return undefined
    return history
  }

  return {
    read(conversation, request) {
      const list = 'pieces' in request ? undefined : itemsOf(request)
      if ('pieces' in request || list === undefined) return historyOf(request)
      const { items, from } = list
      const before = goOn(known.get(conversation), request, items)
      const rest = before === undefined ? undefined : readRest(before, () => from(before.items))
      if (before !== undefined && rest !== undefined) {
        addPieces(before.read.turns, 'body', rest.pieces, leftOut)
        keep(conversation, before, items)
        return historyIn(before.read, rest.tools, request)
      }
      const { pieces, tools } = readRequest(request)
      const read = begin(pieces)
      keep(conversation, { format: request.format, read, items: 0, leaves: [], size: 0 }, items)
      return historyIn(read, tools, request)
    },
  }

  /** Notes the items that are new. One that cannot be compared ends the memory. */
  function keep(conversation: string, history: KnownHistory, items: unknown[]): void {
    for (const item of items.slice(history.items)) {
      const size = addLeaves(history.leaves, item)
      history.size += size ?? Number.POSITIVE_INFINITY
    }
    history.items = items.length
    known.set(conversation, history)
  }
}

/** `items`: the number of those that are read. `leaves`: their content. */
type KnownHistory = {
  format: GuestRequest['format']
  read: ReadHistory
  items: number
  leaves: Leaves
  size: number
}

/** `isUnknown`: the history begins before the first text of a user. `turn`: the number of the turn that `rounds` and `counts` are of. */
type ReadHistory = {
  turns: ReadTurns
  isUnknown: boolean
  turn: number
  rounds: HistoryRound[]
  counts: Map<string, number>
  /** The last turn's text, and the key that it makes. */
  user: string | undefined
  turnKey: string
}

const leftOut = { leave: () => {} }

function begin(pieces: readonly Piece[]): ReadHistory {
  const first = pieces.find(({ kind }) => kind !== 'left-out' && kind !== 'ended')
  const isUnknown = first !== undefined && first.kind !== 'user'
  const turns = emptyTranscript()
  const known = isUnknown ? [{ kind: 'user' as const, text: '' }, ...pieces] : pieces
  addPieces(turns, 'body', known, leftOut)
  return {
    turns,
    isUnknown,
    turn: 0,
    rounds: [],
    counts: new Map(),
    user: undefined,
    turnKey: '',
  }
}

function isBeginning({ items: count, leaves }: KnownHistory, items: unknown[]): boolean {
  if (count > items.length) return false
  let at = 0
  for (let n = 0; n < count && at !== -1; n += 1) at = afterLeaves(leaves, at, items[n])
  return at === leaves.length
}

/**
 * The rest of a request. Undefined: it would add to a response that is read, or it has a mistake,
 * whose place only a read of the whole request can name.
 */
function readRest(
  { read: { turns } }: KnownHistory,
  rest: () => GuestRequest,
): ReadGuestRequest | undefined {
  const last = turns.turns.at(-1)?.responses.at(-1)
  if (turns.turns.length === 0 || turns.isModelSpeaking) return undefined
  try {
    const found = readRequest(rest())
    const first = found.pieces.find(({ kind }) => kind === 'response')
    const goesOn = first?.kind === 'response' && first.id !== undefined && first.id === last?.id
    return goesOn ? undefined : found
  } catch {
    return undefined
  }
}

function historyIn(
  read: ReadHistory,
  tools: GuestHistory['tools'],
  request: AnyGuestRequest,
): GuestHistory {
  const { isUnknown, counts } = read
  const { turns } = read.turns
  const turn = turns.at(-1) ?? { user: '', responses: [] }
  const user = turns.length === 0 || (isUnknown && turns.length === 1) ? null : turn.user
  if (read.turn !== turns.length) {
    read.turn = turns.length
    read.rounds = []
    counts.clear()
    read.user = undefined
  }
  if (read.user !== turn.user) {
    read.user = turn.user
    read.turnKey = turnKeyOf(turns)
  }
  addRounds(read, turn, request)
  return {
    turnKey: read.turnKey,
    user: user === null ? null : cutToBytes(user, limits.userMessageBytesMax),
    rounds: read.rounds.slice(-limits.guestKeysMax),
    former: formerOf(turns, request),
    counts,
    tools,
  }
}

/** Adds the rounds of the responses that have none. */
function addRounds(
  { rounds, counts }: Pick<ReadHistory, 'rounds' | 'counts'>,
  { responses }: TranscriptTurn,
  request: AnyGuestRequest,
): void {
  const before = occurrences(counts)
  for (const spoken of responses.slice(rounds.length)) {
    const words = wordsIn(request, spoken)
    rounds.push(roundOf(roundKey(words, before(words) + 1), spoken))
  }
}

function roundOf(key: string, spoken: TranscriptResponse): HistoryRound {
  return {
    key,
    spoken,
    get results() {
      return resultsOf(key, spoken)
    },
  }
}

function formerOf(
  turns: readonly TranscriptTurn[],
  request: AnyGuestRequest,
): GuestHistory['former'] {
  const former = turns.at(-2)
  const last = former?.responses.at(-1)
  const isCut = last !== undefined && last.calls.length > 0 && turns.at(-1)?.responses.length === 0
  if (former === undefined || !isCut) return undefined
  const rounds: HistoryRound[] = []
  addRounds({ rounds, counts: new Map() }, former, request)
  return { turnKey: turnKeyOf(turns.slice(0, -1)), rounds: rounds.slice(-limits.guestKeysMax) }
}

/** `line`: the line of the result that names an error, otherwise the first one. */
type NewestResult = { tool: string; line: string }

/** The newest result of the turn. Failed ones are first. Undefined: there is none with a text. */
export function newestResultIn({ rounds }: Pick<GuestHistory, 'rounds'>): NewestResult | undefined {
  const calls = rounds.at(-1)?.spoken.calls ?? []
  const results = calls.flatMap(({ name: tool, result }) => {
    if (result === undefined || result === 'unknown') return []
    const line = errorLine(result.text)
    return line === undefined ? [] : [{ tool, line, isError: result.isError }]
  })
  return results.findLast(({ isError }) => isError) ?? results.at(-1)
}

/** The round that an answer makes after its request's history. Throws `guest.format`. */
export function answeredRound(
  answered: AnyGuestAnswer,
  { counts }: Pick<GuestHistory, 'counts'>,
): { spoken: TranscriptResponse; words: string; n: number } {
  const spoken = spokenIn(readAnswer(answered))
  const words = wordsIn(answered.request, spoken)
  return { spoken, words, n: (counts.get(words) ?? 0) + 1 }
}

/** The words of a response, in the spelling in which its host runs and shows the calls. */
function wordsIn(request: AnyGuestRequest, { text, calls }: Words): string {
  const asRun = argumentsRunFor(request)
  const run = calls.map((call) => ({ id: call.id, name: call.name, arguments: asRun(call) }))
  return wordsHash({ text, calls: run })
}

/** The arguments of a call as the host of this request runs them. */
export function argumentsRunFor({
  format,
  host,
  body,
}: AnyGuestRequest): (call: { name: string; arguments: string }) => string {
  const rewriting = hostNamed(host)?.rewriting
  if (rewriting === undefined) return ({ arguments: sent }) => sent
  const instructions = formatNamed(format as unknown)?.request?.instructions
  const texts = () => (isObject(body) ? (instructions?.(body) ?? []) : [])
  const folder = () => folderIn(texts(), rewriting)
  return (call) => argumentsAsRun(call, rewriting, folder)
}

/** The host names its folder in its instructions. */
function folderIn(texts: unknown[], { folder }: HostRewriting): string | undefined {
  for (const text of texts) {
    const found = typeof text === 'string' ? folder?.named.exec(text)?.[1]?.trimEnd() : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** All pieces of an answer are one response. */
function spokenIn(pieces: readonly Piece[]): TranscriptResponse {
  const begins = pieces.findIndex(({ kind }) => kind === 'response')
  const one: Piece[] = [
    { kind: 'user', text: '' },
    { kind: 'response', id: undefined },
    ...pieces.filter(({ kind }, at) => kind !== 'response' || at === begins),
  ]
  const [turn] = turnsOf('answer', one, { leave: () => {} })
  return (turn as TranscriptTurn).responses.at(-1) as TranscriptResponse
}

/** The response with its calls as the host reads them, on record as repairs. */
export function asHostReads(
  response: Response,
  declarations: readonly Declaration[],
  host: string | undefined,
): Response {
  if (hostNamed(host)?.rewriting?.readsTexts !== true) return response
  const calls = response.calls.map((call) => {
    const schema = declarations.find(({ name }) => name === call.name)?.schema ?? ''
    const raw = argumentsRead(call.raw, schema)
    if (raw === call.raw) return call
    const { sent, how } = call.repair ?? { sent: call.raw, how: [] }
    return { ...call, raw, repair: { sent, how: [...how, 'read-text'] } }
  })
  return { ...response, calls }
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
 * tool of a guest runs, so each one may take as long as any. `pollers`: those of its host's profile,
 * next to those of the guest's file.
 */
export function toolsFor(
  spoken: Pick<TranscriptResponse, 'calls'>,
  tools: readonly Declaration[] | undefined,
  hints: Readonly<Record<string, GuestHints>>,
  pollers: readonly string[] = [],
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
        const isPoller = poll || pollers.includes(declaration.name)
        return {
          ...declaration,
          poll: isPoller,
          timeoutMs: limits.toolTimeoutMsMax,
          hints: own === undefined ? null : (rest as ToolHints),
        }
      }),
  }
}

/**
 * The results of the round's calls. A call that comes twice, with the same words, counts once.
 * `shown`: the arguments in the history, which may differ from the model's.
 */
function resultsOf(key: string, { calls }: TranscriptResponse): GuestResult[] {
  const before = occurrences()
  const sent = new Set<string>()
  return calls.flatMap(({ id, name, arguments: args, result }) => {
    const words = JSON.stringify([id, name, args])
    if (id !== '' && sent.has(words)) return []
    sent.add(words)
    const nth = before(id)
    if (result === undefined) return []
    const ended =
      result === 'unknown'
        ? ({ status: 'unseen', text: '' } as const)
        : ({ status: result.isError ? 'error' : 'ok', text: result.text } as const)
    const text = cutToBytes(ended.text, limits.resultBytesMax)
    return [{ key, callId: id, nth, status: ended.status, text, shown: args, durationMs: 0 }]
  })
}

const turnTextDigits = 12

/** `u`, the number of the user's messages, and a hash of the last one without reminders. */
function turnKeyOf(turns: readonly TranscriptTurn[]): string {
  const text = withoutReminders(turns.at(-1)?.user ?? '')
  return `u${turns.length}:${hash('sha256', text).slice(0, turnTextDigits)}`
}
