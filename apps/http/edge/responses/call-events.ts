// The calls of a response as output items, and their events, which have no numbers yet.

import type { CallPlace } from '../../../../client/weir.ts'
import type { Event, TurnCalls } from '../chat/turn-calls.ts'
import { type CallItem, callItem, functionItem, type OutputItem } from './output-items.ts'

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

export function startedCall(
  calls: Calls,
  event: CallPlace & { name: string; arguments: string },
): object[] {
  const approval = calls.seen.open(event)?.approvals.at(-1)?.id
  return openCall(calls, callItem({ ...event, approval }, { status: 'in_progress' }))
}

export function rejectedCall(calls: Calls, event: Event<'call-rejected'>): object[] {
  const item = callItem(event, { status: 'failed', error: event.text })
  return [...startedCall(calls, event), ...closeCall(calls, item)]
}

/** Empty for a call of the client: its result is input, no output. */
export function finishedCall(calls: Calls, event: Event<'call-finished'>): object[] {
  const open = calls.seen.open(event)
  if (open === undefined || open.offer !== undefined) return []
  const approval = open.approvals.at(-1)?.id
  const call = { ...event, arguments: open.arguments, approval }
  const { status, result } = event
  const end =
    status === 'ok'
      ? ({ status: 'completed', output: result } as const)
      : ({ status: 'failed', error: result } as const)
  return [...startedCall(calls, call), ...closeCall(calls, callItem(call, end))]
}

export function offeredCall({ output }: Calls, event: Event<'call-offered'>): object[] {
  const item = functionItem(event)
  const place = { output_index: output.length, item_id: item.id }
  output.push(item)
  const added = { ...item, arguments: '', status: 'in_progress' }
  const { name, arguments: given } = item
  return [
    { type: 'response.output_item.added', output_index: place.output_index, item: added },
    { type: 'response.function_call_arguments.delta', ...place, delta: given },
    { type: 'response.function_call_arguments.done', ...place, name, arguments: given },
    { type: 'response.output_item.done', output_index: place.output_index, item },
  ]
}

export function pendingCalls({ output }: Calls, event: Event<'approval-pending'>): object[] {
  return event.calls.flatMap(({ id, name, arguments: given, question }) => {
    const output_index = output.length
    const type = 'mcp_approval_request'
    const item: OutputItem = { id, type, server_label: 'weir', name, arguments: question ?? given }
    output.push(item)
    return ['added', 'done'].map((end) => ({
      type: `response.output_item.${end}`,
      output_index,
      item,
    }))
  })
}

/** Empty if the call is there already. */
function openCall({ indexes, output }: Calls, item: CallItem): object[] {
  if (indexes.has(item.id)) return []
  const index = output.length
  indexes.set(item.id, index)
  output.push(item)
  const place = { output_index: index, item_id: item.id }
  return [
    { type: 'response.output_item.added', output_index: index, item },
    { type: 'response.mcp_call.in_progress', ...place },
    { type: 'response.mcp_call_arguments.done', ...place, arguments: item.arguments },
  ]
}

function closeCall({ indexes, output }: Calls, item: CallItem): object[] {
  const index = indexes.get(item.id) ?? 0
  output[index] = item
  const end = item.status === 'completed' ? 'completed' : 'failed'
  return [
    { type: `response.mcp_call.${end}`, output_index: index, item_id: item.id },
    { type: 'response.output_item.done', output_index: index, item },
  ]
}
