// The calls of a response as output items, and their events, which have no numbers yet.

import type { CallPlace } from '../../../../client/weir.ts'
import {
  approvalItem,
  itemOf,
  mcpCallItem,
} from '../../../../shared/wire/openai-responses/answer.ts'
import {
  itemEvents,
  mcpCallBegun,
  mcpCallEnded,
} from '../../../../shared/wire/openai-responses/item-events.ts'
import { callIdOf, type Event, type TurnCalls } from '../chat/turn-calls.ts'
import type { OutputItem } from './response-object.ts'

export type Calls = ReturnType<typeof beginCalls>

/** `output`: the items of the response, which its texts share. `seen`: the calls before the event. */
export function beginCalls(output: OutputItem[], seen: TurnCalls) {
  return {
    output,
    seen,
    /** By id: the place in the output. */
    indexes: new Map<string, number>(),
  }
}

type Call = CallPlace & { name: string; rawArguments: string }

/** Empty if the call is there already. */
export function startedCall({ indexes, output, seen }: Calls, event: Call): object[] {
  const id = callId(event)
  if (indexes.has(id)) return []
  const item = itemAt(event, seen, { status: 'in_progress' })
  indexes.set(id, output.length)
  return mcpCallBegun(item, output.push(item) - 1)
}

export function deniedCall(calls: Calls, event: Event<'call-denied'>): object[] {
  return endedCall(calls, event, { status: 'failed', error: event.text })
}

/** Empty for a call of the client: its result is input, no output. */
export function finishedCall(calls: Calls, event: Event<'call-finished'>): object[] {
  const open = calls.seen.open(event)
  if (open === undefined || open.offer !== undefined) return []
  const { status, rawResult: result } = event
  return endedCall(
    calls,
    { ...event, rawArguments: open.rawArguments },
    status === 'ok' ? { status: 'completed', output: result } : { status: 'failed', error: result },
  )
}

export function offeredCall({ output }: Calls, event: Event<'call-offered'>): object[] {
  const { name, rawArguments: given } = event
  const call = { kind: 'call' as const, id: callIdOf(event), name, arguments: given }
  return addWhole(output, itemOf(call, placeText(event)))
}

export function pendingCalls({ output }: Calls, event: Event<'approval-pending'>): object[] {
  return event.calls.flatMap(({ id, name, rawArguments: given, question }) =>
    addWhole(output, approvalItem({ id, server, name, arguments: question ?? given })),
  )
}

/** `state`: an `error` is the text for the model, in place of an output. */
function endedCall(calls: Calls, call: Call, state: CallState): object[] {
  const started = startedCall(calls, call)
  const index = calls.indexes.get(callId(call)) ?? 0
  const item = itemAt(call, calls.seen, state)
  calls.output[index] = item
  return [...started, ...mcpCallEnded(item, index)]
}

type CallState = Parameters<typeof mcpCallItem>[1]

const server = 'weir'

function itemAt(call: Call, seen: TurnCalls, state: CallState): OutputItem {
  const { name, rawArguments: given } = call
  const approval = seen.open(call)?.approvals.at(-1)?.id
  return mcpCallItem({ id: callId(call), server, name, arguments: given, approval }, state)
}

function callId(place: CallPlace): string {
  return `mcp_${placeText(place)}`
}

function placeText({ turn, round, ordinal }: CallPlace): string {
  return `${turn}_${round}_${ordinal}`
}

function addWhole(output: OutputItem[], item: OutputItem): object[] {
  return itemEvents(item, output.push(item) - 1)
}
