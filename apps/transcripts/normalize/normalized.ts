// The result of `weir normalize` for a file, from the live SDK, gateway, accumulator and validator.
// The SDK's fetch reads the file.

import { AnswerWatch } from '../../../services/llm-gateway/degenerate/answer-watch.ts'
import type { ProviderRecord } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { argumentText } from '../../../shared/contract/call/call.ts'
import type {
  ArgumentSource,
  Call,
  FailureClass,
  PartEvent,
  RoundChecked,
  Stop,
} from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { withExactNumbers } from '../../../shared/lib/json/raw-numbers.ts'
import { parseJson } from '../../../shared/wire/exact-json.ts'
import type { Failed, Finished } from '../../../shared/wire/exchange.ts'
import { declarationOf, judgedRound, type OfferedTool } from './judged-round.ts'
import { foreignTo, type RecordedBody, recordedBodies } from './recording.ts'

/**
 * One object for each file, for scripts. If a file has several responses, it has the contents of
 * all of them in order, and the end of the last one.
 */
export type Normalized = {
  file: string
  /** Visible text, without the calls written in it. */
  text: string
  /** Readable thinking, otherwise the blocks as JSON. */
  reasoning: string
  calls: NormalizedCall[]
  /** `provider`: its reason for stopping. Null: it gave none. */
  stop: { provider: string | null; unified: Stop }
  /**
   * The reason why this would be no response in production. The other fields then only help to look
   * at the file. `class`: that of the failed attempt; null: the file is at fault. Null: it is a
   * response, or the stream just ended.
   */
  error: { code: string; message: string; class: FailureClass | null } | null
}

export type NormalizedCall = {
  ordinal: number
  /** The provider's, or one of ours. */
  id: string
  name: string
  /** Null if it must not run. */
  arguments: Record<string, unknown> | null
  runnable: boolean
  /** The code of the reason why it must not run. Null: it may run. */
  reason: string | null
  source: ArgumentSource
  /** The text as sent. For a call written in the text, the part read from there. */
  rawArguments: string
  /** The call, or the text around it, was repaired. */
  repaired: boolean
}

/** The parts and rounds for people. `refusal`: the text of a refusal, which has its own channel. */
export type Streamed = { events: PartEvent[]; rounds: RoundChecked[]; refusal: string }

export type NormalizeOptions = {
  file: string
  bytes: Buffer
  provider: ProviderRecord
  tools: OfferedTool[] | undefined
}

/** Never rejects on the contents of a file: a mistake becomes an `error`. */
export async function normalized(
  options: NormalizeOptions,
): Promise<{ normalized: Normalized; streamed: Streamed }> {
  const { file, bytes, provider, tools } = options
  const result = emptyOf(file, null)
  const streamed: Streamed = { events: [], rounds: [], refusal: '' }
  let bodies: RecordedBody[] = []
  try {
    bodies = recordedBodies(bytes, provider)
  } catch (error) {
    if (!(error instanceof WeirError)) throw error
    result.error = { code: error.code, message: error.message, class: null }
  }
  for (const body of bodies) {
    const { events, ending } = await answerOf(body, provider, tools)
    const round = judgedRound({ events, ending, tools })
    add(result, { events, ending, round })
    streamed.events.push(...events)
    streamed.rounds.push(round)
    streamed.refusal += events
      .flatMap(({ kind, text }) => (kind === 'refusal' ? [text] : []))
      .join('')
  }
  // Events of another provider can resemble this provider's own words.
  const isEmpty =
    result.stop.provider === null && streamed.events.every(({ kind }) => kind === 'provider_said')
  const foreign = isEmpty && result.error === null ? foreignTo(bytes, provider) : undefined
  if (foreign !== undefined)
    result.error = { code: 'recording.invalid', message: foreign, class: null }
  return { normalized: result, streamed }
}

/** The result for an unreadable file. */
export function unreadable(file: string, message: string): Normalized {
  return emptyOf(file, { code: 'recording.invalid', message, class: null })
}

function emptyOf(file: string, error: Normalized['error']): Normalized {
  const stop = { provider: null, unified: 'cut' } as const
  return { file, text: '', reasoning: '', calls: [], stop, error }
}

type Answer = { events: PartEvent[]; ending: Finished | Failed | undefined }

async function answerOf(
  { contentType, bytes }: RecordedBody,
  provider: ProviderRecord,
  tools: OfferedTool[] | undefined,
): Promise<Answer> {
  const answer: typeof globalThis.fetch = () =>
    Promise.resolve(new Response(inPieces(bytes), { headers: { 'content-type': contentType } }))
  // No answer has so many tokens, so the limit never looks like a truncation. The real limit is not
  // in the file.
  const model = {
    provider: provider.name,
    name: 'recorded',
    apiKey: 'none',
    maxOutputTokens: Number.MAX_SAFE_INTEGER,
  }
  const client = await provider.connect(
    { name: 'normalize', system: '', model, tools: [], settings: defaultSettings },
    answer,
  )
  const request = {
    nudge: null,
    tools: (tools ?? []).map(declarationOf),
    textOnly: false,
    history: [],
    rebuilt: false,
  }
  const events: PartEvent[] = []
  const watch = new AnswerWatch(() => []) // the file has no results of tools
  for await (const item of client.stream(request, new AbortController().signal, () => undefined)) {
    if (item.kind !== 'events') return { events, ending: item }
    const degenerate = watch.add(item.events)
    if (degenerate !== undefined) return { events, ending: degenerate }
    events.push(...item.events)
  }
  return { events, ending: undefined }
}

const pieceBytes = 64 * 1024

/** In chunks, like a network. The bytes before a complete event are limited. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, at + pieceBytes))
      else controller.close()
      at += pieceBytes
    },
  })
}

function add(
  result: Normalized,
  { events, ending, round }: Answer & { round: RoundChecked },
): void {
  const textsOf = (kind: PartEvent['kind']) =>
    events.flatMap((event) => (event.kind === kind ? [event.text] : []))
  const thought = textsOf('reasoning').join('')
  // Calls recovered from the text replace it.
  if (round.response.textCalls === null || round.response.textCalls.fault !== null)
    result.text += textsOf('text').join('')
  result.reasoning +=
    thought === ''
      ? textsOf('reasoning_block')
          .map(blockText)
          .filter((text) => text !== '')
          .join('\n')
      : thought
  const before = result.calls.length
  result.calls.push(
    ...round.response.calls.map((call) => callOf(call, before + call.ordinal, round)),
  )
  result.stop = {
    provider: ending?.finish || null,
    unified: ending?.kind === 'finished' ? ending.stop : 'cut',
  }
  const failed = ending?.kind === 'failed' ? ending : undefined
  if (failed !== undefined)
    result.error = { code: failed.code, message: failed.reason, class: failed.class }
  else if (round.failure !== null) {
    const { reason, class: failureClass } = round.failure
    result.error = { code: 'recording.unusable', message: reason, class: failureClass }
  }
}

/** As the provider sent it, without our own fields. */
function blockText(block: string): string {
  const noted = parseJson(block)
  if (!isObject(noted)) return block
  if ('phase' in noted && 'chars' in noted) return '' // of a message, not of thinking
  return isObject(noted.item) ? JSON.stringify(noted.item) : block
}

function callOf(call: Call, ordinal: number, { denials, response }: RoundChecked): NormalizedCall {
  const denial = denials.find((other) => other.ordinal === call.ordinal)
  const value = denial === undefined ? withExactNumbers(argumentText(call)) : undefined
  const given = isObject(value) ? value : null
  return {
    ordinal,
    id: call.id === '' ? `call_${ordinal}` : call.id,
    name: call.name,
    arguments: given,
    runnable: given !== null,
    reason: given !== null ? null : (call.problem ?? denial?.code ?? 'not_an_object'),
    source: call.source,
    rawArguments: call.repair?.sent ?? call.raw,
    repaired: call.repair !== null || (response.textCalls?.repairs.length ?? 0) > 0,
  }
}
