// The events of a turn as chunks of the AI SDK's UI message stream. Pure: events in, chunks out.
// The chunks are a function of the events, so a repeated stream rebuilds the same message.
// Nobody's answer is never shown as a person's no: an expired approval is an error of the
// call, and only a person or a guard denies it.
// The part of a call that waits for a person has its whole arguments.

import type { CallPlace, TurnEvent } from '../../../../client/weir.ts'
import { isDeniedByGuard } from '../../../../shared/contract/call/call.ts'
import type { CallArguments } from '../../../../shared/contract/call/call-arguments.ts'
import { type BlockChunks, createTextBlocks } from '../chat/text-blocks.ts'
import {
  callIdOf,
  createTurnCalls,
  type Event,
  type OpenCall,
  type TurnCalls,
} from '../chat/turn-calls.ts'
import type { TurnFold } from '../chat/turn-chunks.ts'
import { endCode, interventionData, turnData } from '../chat/turn-data.ts'
import type { UiChunk } from './ui-chunk.ts'

/** Ids of the approvals that stand for the veto of a guard begin with it. */
export const guardPrefix = 'guard-'

const blockChunks: BlockChunks<UiChunk> = {
  start: ({ kind, id }) => [{ type: `${kind}-start`, id }],
  delta: ({ kind, id }, delta) => ({ type: `${kind}-delta`, id, delta }),
  end: ({ kind, id }) => [{ type: `${kind}-end`, id }],
}

/** The calls of the turn as parts of the message. `clientTools`: the tools that the page runs. */
type CallParts = {
  calls: TurnCalls
  shown: Set<string>
  clientTools: ReadonlySet<string>
}

/** `clientTools`: the names of the tools that the page runs. */
export function createUiFold(clientTools: ReadonlySet<string> = new Set()): TurnFold<UiChunk> {
  const calls = createTurnCalls()
  const parts: CallParts = { calls, shown: new Set(), clientTools }
  const blocks = createTextBlocks(blockChunks)
  let turn: number | undefined
  let isStep = false
  /** Data of the open step: a reset of the step removes it, so it is sent again. */
  let stepData: UiChunk[] = []

  function delta(kind: 'text' | 'reasoning', text: string): UiChunk[] {
    return blocks.add(kind, turn ?? 0, text)
  }

  function startStep(): UiChunk[] {
    const before = finishStep()
    isStep = true
    return [...before, { type: 'start-step' }]
  }

  function finishStep(): UiChunk[] {
    const before = blocks.close()
    stepData = []
    if (!isStep) return before
    isStep = false
    return [...before, { type: 'finish-step' }]
  }

  function reset(): UiChunk[] {
    blocks.drop()
    blocks.beginRound()
    return [{ type: 'reset-step' }, ...stepData]
  }

  function intervention(event: Event<'intervention-raised'>): UiChunk[] {
    const data = interventionData(event)
    const { round, action, rule } = data
    const id = `intervention-${event.turn}-${round}-${rule}-${action}`
    const chunk: UiChunk = { type: 'data-weir-intervention', id, data }
    if (isStep) stepData.push(chunk)
    return [chunk]
  }

  function turnFinished(event: Event<'turn-finished'>): UiChunk[] {
    const { reply, outcome, reason } = event
    const code = endCode(event)
    const isShown = reply === '' || (outcome === 'answered' && blocks.texts().length > 0)
    return [
      ...blocks.close(),
      ...unfinished(parts),
      ...(isShown ? [] : [...startStep(), ...delta('text', reply), ...blocks.close()]),
      { type: 'data-weir-turn', id: `turn-${event.turn}`, data: turnData(event, calls) },
      ...finishStep(),
      ...(outcome === 'cancelled' ? [{ type: 'abort' as const, reason }] : []),
      ...(code === null ? [] : [{ type: 'error' as const, errorText: `${code}: ${reason}` }]),
      { type: 'finish', finishReason: finishReasonOf(event) },
    ]
  }

  function start(): UiChunk[] {
    return [{ type: 'start', messageId: `turn-${turn ?? 0}` }]
  }

  function chunksOf(event: TurnEvent): UiChunk[] {
    switch (event.type) {
      case 'round-started':
        blocks.beginRound()
        return startStep()
      case 'text-delta':
        return delta('text', event.text)
      case 'reasoning-delta':
        return delta('reasoning', event.text)
      case 'text-reset':
        return reset()
      case 'model-answered':
        return blocks.close()
      case 'call-denied':
        return denied(parts, event)
      case 'tool-started':
      case 'call-offered':
        return shown(parts, event)
      case 'intervention-raised':
        return intervention(event)
      case 'approval-pending':
        return pending(parts, event)
      case 'approval-decided':
        return decided(event)
      case 'call-finished':
        return finished(parts, event)
      case 'turn-finished':
        return turnFinished(event)
      default:
        return []
    }
  }

  return {
    add(event) {
      const isFirst = turn === undefined && 'turn' in event
      if (isFirst) turn = event.turn
      const chunks = [...(isFirst ? start() : []), ...chunksOf(event)]
      calls.see(event)
      return chunks
    },
    paused: calls.paused,
    start,
    pause: () => [...finishStep(), { type: 'finish', finishReason: 'tool-calls' }],
  }
}

/**
 * The part of a call appears when something happens to it. A page counts the calls that it shows,
 * so it would never send an answer next to a call that waits for that answer.
 */
function shown(parts: CallParts, place: CallPlace): UiChunk[] {
  const call = parts.calls.open(place)
  return call === undefined ? [] : inputOf(parts, call)
}

/** Empty if it is shown already. */
function inputOf(parts: CallParts, call: OpenCall): UiChunk[] {
  if (parts.shown.has(call.callId)) return []
  return inputChunk(parts, call, call.arguments ?? call.rawArguments)
}

function inputChunk({ shown, clientTools }: CallParts, call: OpenCall, input: unknown): UiChunk[] {
  const { callId: toolCallId, name: toolName } = call
  shown.add(toolCallId)
  const executed = clientTools.has(toolName) ? {} : ({ providerExecuted: true } as const)
  const sent = { toolCallId, toolName, input }
  return [{ type: 'tool-input-available', ...sent, dynamic: true, ...executed }]
}

/** The response of the model may have only the beginning of the arguments. */
function wholeInput(parts: CallParts, place: CallPlace & CallArguments): UiChunk[] {
  const call = parts.calls.open(place)
  if (call === undefined || call.rawArguments === place.rawArguments) return shown(parts, place)
  return inputChunk(parts, call, place.arguments ?? place.rawArguments)
}

function pending(parts: CallParts, event: Event<'approval-pending'>): UiChunk[] {
  return event.calls.flatMap((call): UiChunk[] => {
    const { id, rule, question } = call
    const place = { ...event, ...call }
    const request = { approvalId: id, toolCallId: callIdOf(place), reason: rule }
    const input = question === null ? wholeInput(parts, place) : shown(parts, place)
    return [...input, { type: 'tool-approval-request', ...request }]
  })
}

function denied({ shown }: CallParts, event: Event<'call-denied'>): UiChunk[] {
  const toolCallId = callIdOf(event)
  shown.add(toolCallId)
  const known = { dynamic: true, providerExecuted: true } as const
  return [
    {
      type: 'tool-input-error',
      toolCallId,
      toolName: event.name,
      ...known,
      input: event.arguments ?? event.rawArguments,
      errorText: event.text || event.reason,
    },
  ]
}

function finished(parts: CallParts, event: Event<'call-finished'>): UiChunk[] {
  const call = parts.calls.open(event)
  if (call === undefined) return [] // its denial was its end
  return [...inputOf(parts, call), ...endOf(call, event)]
}

function endOf(
  { callId, approvals }: OpenCall,
  { status, result, rawResult, reason, guard }: Event<'call-finished'>,
): UiChunk[] {
  if (status === 'ok')
    return [{ type: 'tool-output-available', toolCallId: callId, output: result }]
  const outcome = approvals.at(-1)?.decided?.outcome
  const isUndecided = outcome === 'expired' || outcome === 'withdrawn'
  if (!isDeniedByGuard({ status, guard }) || isUndecided)
    return [{ type: 'tool-output-error', toolCallId: callId, errorText: rawResult || reason }]
  const denied: UiChunk = { type: 'tool-output-denied', toolCallId: callId }
  return outcome === 'deny' ? [denied] : [...byGuard(callId, reason), denied]
}

function unfinished(parts: CallParts): UiChunk[] {
  const errorText = 'the turn ended before this call had a result'
  return parts.calls
    .all()
    .flatMap((call): UiChunk[] => [
      ...inputOf(parts, call),
      { type: 'tool-output-error', toolCallId: call.callId, errorText },
    ])
}

/** Only a person's answer is a response. */
function decided({ id, outcome, reason }: Event<'approval-decided'>): UiChunk[] {
  if (outcome !== 'allow' && outcome !== 'deny') return []
  const response = { approvalId: id, approved: outcome === 'allow' }
  return [{ type: 'tool-approval-response', ...response, ...(reason !== '' && { reason }) }]
}

/** A guard's denial, as an approval that no person decides. */
function byGuard(toolCallId: string, reason: string): UiChunk[] {
  const approvalId = guardPrefix + toolCallId
  return [
    { type: 'tool-approval-request', approvalId, toolCallId, reason: 'guard', isAutomatic: true },
    { type: 'tool-approval-response', approvalId, approved: false, reason },
  ]
}

function finishReasonOf({ outcome, class: failure }: Event<'turn-finished'>) {
  if (outcome === 'answered') return 'stop'
  if (outcome === 'capped') return 'length'
  if (outcome === 'cancelled') return 'interrupted'
  return failure === 'refused' ? 'content-filter' : 'error'
}
