// What `weir normalize` says about a file: the same SDK, gateway, accumulator and validator as
// live, and the SDK's fetch answers from the file.

import type {
  Failed,
  Finished,
  ProviderRecord,
} from '../../../services/llm-gateway/providers/provider.ts'
import { parseJson, withExactNumbers } from '../../../services/llm-gateway/wire/exact-json.ts'
import { defaultSettings } from '../../../shared/agents/agents.ts'
import { argumentText } from '../../../shared/contract/call.ts'
import type {
  ArgumentSource,
  Call,
  PartEvent,
  RoundChecked,
  Stop,
} from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { declarationOf, judgedRound, type OfferedTool } from './judged-round.ts'
import { foreignTo, type RecordedBody, recordedBodies } from './recording.ts'

/**
 * One object a file; its fields are what scripts read. Of a file with several responses: what all
 * of them said, in order, and how the last one ended.
 */
export type Normalized = {
  file: string
  /** Visible text, without calls that were written in it. */
  text: string
  /** Thinking that can be read; where it cannot, the blocks as JSON. */
  reasoning: string
  calls: NormalizedCall[]
  /** `provider`: its own word for why it stopped, null: it gave none. */
  stop: { provider: string | null; unified: Stop }
  /**
   * Why there is no response, live: what is here then is only for looking. Null: there is one, or
   * the stream just ended.
   */
  error: { code: string; message: string } | null
}

export type NormalizedCall = {
  ordinal: number
  /** The provider's, or one of ours. */
  id: string
  name: string
  /** Null where it must not run. */
  arguments: Record<string, unknown> | null
  runnable: boolean
  /** Why not, in a code; null: it may run. */
  reason: string | null
  source: ArgumentSource
  /** The text as it came; of a call that was written in the text, as it was read out of it. */
  raw: string
  /** It was mended, or the text in which it was written was. */
  repaired: boolean
}

/**
 * What is behind it, for people. `refusal`: words in which the model has refused, in a channel of
 * their own.
 */
export type Streamed = { events: PartEvent[]; rounds: RoundChecked[]; refusal: string }

export type NormalizeOptions = {
  file: string
  bytes: Buffer
  provider: ProviderRecord
  tools: OfferedTool[] | undefined
}

/** Never rejects on what a file holds: that is an `error`. */
export async function normalized(
  options: NormalizeOptions,
): Promise<{ normalized: Normalized; streamed: Streamed }> {
  const { file, bytes, provider, tools } = options
  const result: Normalized = {
    file,
    text: '',
    reasoning: '',
    calls: [],
    stop: { provider: null, unified: 'cut' },
    error: null,
  }
  const streamed: Streamed = { events: [], rounds: [], refusal: '' }
  let bodies: RecordedBody[] = []
  try {
    bodies = recordedBodies(bytes, provider)
  } catch (error) {
    if (!(error instanceof WeirError)) throw error
    result.error = { code: error.code, message: error.message }
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
  // What the provider says of itself may be taken from events of another's.
  const isEmpty =
    result.stop.provider === null && streamed.events.every(({ kind }) => kind === 'provider_said')
  const foreign = isEmpty && result.error === null ? foreignTo(bytes, provider) : undefined
  if (foreign !== undefined) result.error = { code: 'recording.invalid', message: foreign }
  return { normalized: result, streamed }
}

/** A file whose error says that it could not even be read. */
export function unreadable(file: string, message: string): Normalized {
  const error = { code: 'recording.invalid', message }
  return {
    file,
    text: '',
    reasoning: '',
    calls: [],
    stop: { provider: null, unified: 'cut' },
    error,
  }
}

type Answer = { events: PartEvent[]; ending: Finished | Failed | undefined }

async function answerOf(
  { contentType, bytes }: RecordedBody,
  provider: ProviderRecord,
  tools: OfferedTool[] | undefined,
): Promise<Answer> {
  const answer: typeof globalThis.fetch = () =>
    Promise.resolve(new Response(inPieces(bytes), { headers: { 'content-type': contentType } }))
  // No answer has so many tokens, so the bound is no sign of a cut: the one of the request is not
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
  for await (const item of client.stream(request, new AbortController().signal, () => undefined)) {
    if (item.kind !== 'events') return { events, ending: item }
    events.push(...item.events)
  }
  return { events, ending: undefined }
}

const pieceBytes = 64 * 1024

/** As a network would bring them: how much may come without a complete event is bounded. */
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
  const said = (kind: PartEvent['kind']) =>
    events.flatMap((event) => (event.kind === kind ? [event.text] : []))
  const thought = said('reasoning').join('')
  // Calls that were recovered from the text took its place.
  if (round.response.textCalls === null || round.response.textCalls.fault !== null)
    result.text += said('text').join('')
  result.reasoning += thought === '' ? said('reasoning_block').map(blockText).join('\n') : thought
  const before = result.calls.length
  result.calls.push(
    ...round.response.calls.map((call) => callOf(call, before + call.ordinal, round)),
  )
  result.stop = {
    provider: ending?.finish || null,
    unified: ending?.kind === 'finished' ? ending.stop : 'cut',
  }
  if (ending?.kind === 'failed') result.error = { code: ending.code, message: ending.reason }
  else if (round.failure !== null)
    result.error = { code: 'recording.unusable', message: round.failure.reason }
}

/** As the provider sent it, without what we note beside it. */
function blockText(block: string): string {
  const noted = parseJson(block)
  return isObject(noted) && isObject(noted.item) ? JSON.stringify(noted.item) : block
}

function callOf(
  call: Call,
  ordinal: number,
  { rejections, response }: RoundChecked,
): NormalizedCall {
  const rejection = rejections.find((other) => other.ordinal === call.ordinal)
  const value = rejection === undefined ? withExactNumbers(argumentText(call)) : undefined
  const given = isObject(value) ? value : null
  return {
    ordinal,
    id: call.id === '' ? `call_${ordinal}` : call.id,
    name: call.name,
    arguments: given,
    runnable: given !== null,
    reason: given !== null ? null : (call.problem ?? rejection?.code ?? 'not_an_object'),
    source: call.source,
    raw: call.repair?.sent ?? call.raw,
    repaired: call.repair !== null || (response.textCalls?.repairs.length ?? 0) > 0,
  }
}
