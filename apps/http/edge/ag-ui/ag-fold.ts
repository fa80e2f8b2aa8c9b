// The events of a turn as those of an AG-UI run. Pure: events in, events out.
// The events are a function of the turn and of the request, so a repeated run is the same.
// A run ends once, after the end of its texts, steps and calls: clients refuse others.
// An interrupt has the whole arguments if the events of its call have only a part of them.

import type { TurnEvent } from '../../../../client/weir.ts'
import { type BlockChunks, createTextBlocks } from '../chat/text-blocks.ts'
import { callIdOf, createTurnCalls, type Event, type WaitingCall } from '../chat/turn-calls.ts'
import type { TurnFold } from '../chat/turn-chunks.ts'
import { endCode, interventionData, turnData } from '../chat/turn-data.ts'
import {
  type AgEvent,
  type AgInterrupt,
  type AgMessage,
  type AgOutcome,
  agUiVersion,
} from './ag-event.ts'

/** `messages`: those of the user, the assistant and tools that the client sent. */
export type AgRun = { threadId: string; runId: string; messages: readonly AgMessage[] }

/** The answer to an interrupt. */
const responseSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}

const blockEvents: BlockChunks<AgEvent> = {
  start({ kind, id: messageId }) {
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }]
    return [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    ]
  },
  delta({ kind, id: messageId }, delta) {
    const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    return { type, messageId, delta }
  },
  end({ kind, id: messageId }) {
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }]
    return [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ]
  },
}

export function createAgFold({ threadId, runId, messages }: AgRun): TurnFold<AgEvent> {
  const calls = createTurnCalls()
  const sent = createAgMessages(messages)
  /** Calls whose results the client has sent itself. */
  const known = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
  const blocks = createTextBlocks(blockEvents)
  let hasBegun = false
  let step: string | undefined

  function endStep(): AgEvent[] {
    const before = blocks.close()
    blocks.beginRound()
    if (step === undefined) return before
    const stepName = step
    step = undefined
    return [...before, { type: 'STEP_FINISHED', stepName }]
  }

  function startStep(round: number): AgEvent[] {
    const before = endStep()
    step = `round-${round}`
    return [...before, { type: 'STEP_STARTED', stepName: step }]
  }

  function reset(): AgEvent[] {
    const before = blocks.close()
    if (blocks.texts().length === 0) return before
    sent.drop(blocks.texts())
    blocks.beginRound()
    return [...before, { type: 'MESSAGES_SNAPSHOT', messages: sent.all() }]
  }

  function finished(event: Event<'turn-finished'>): AgEvent[] {
    const { reply, outcome, reason, class: failure, totals } = event
    const { inputTokens, outputTokens } = totals
    const usage = [{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }]
    const isShown = reply === '' || (outcome === 'answered' && blocks.texts().length > 0)
    const before: AgEvent[] = [
      ...blocks.close(),
      ...calls.all().map(({ callId }) => result(callId, 'the turn ended before its result')),
      ...(isShown ? [] : [...blocks.add('text', event.turn, reply), ...blocks.close()]),
      { type: 'CUSTOM', name: 'weir.turn', value: turnData(event, calls) },
      ...endStep(),
    ]
    const code = endCode(event) ?? failure ?? outcome
    if (outcome === 'failed')
      return [...before, { type: 'RUN_ERROR', message: reason, code, usage }]
    const type = outcome === 'cancelled' ? outcome : 'success'
    return [...before, { type: 'RUN_FINISHED', threadId, runId, outcome: { type }, usage }]
  }

  /** A denied call has its result already, and a client has the results that it sent. */
  function ended(event: Event<'call-denied' | 'call-finished'>, text: string): AgEvent[] {
    const call = calls.open(event)
    return call === undefined || known.has(call.callId) ? [] : [result(call.callId, text)]
  }

  function eventsOf(event: TurnEvent): AgEvent[] {
    switch (event.type) {
      case 'round-started':
        return startStep(event.round)
      case 'text-delta':
        return blocks.add('text', event.turn, event.text)
      case 'reasoning-delta':
        return blocks.add('reasoning', event.turn, event.text)
      case 'text-reset':
        return reset()
      case 'model-answered':
        return [...blocks.close(), ...callsOf(event, blocks.texts().at(-1))]
      case 'intervention-raised':
        return [{ type: 'CUSTOM', name: 'weir.intervention', value: interventionData(event) }]
      case 'call-denied':
        return ended(event, event.text || event.reason)
      case 'call-finished':
        return ended(event, event.rawResult || event.reason)
      case 'turn-finished':
        return finished(event)
      default:
        return []
    }
  }

  function started(): AgEvent {
    hasBegun = true
    return { type: 'RUN_STARTED', threadId, runId, protocolVersion: agUiVersion }
  }

  return {
    add(event) {
      const isFirst = !hasBegun && 'turn' in event
      const events = [...(isFirst ? [started()] : []), ...eventsOf(event)]
      for (const one of events) sent.see(one)
      calls.see(event)
      return events
    },
    paused: calls.paused,
    start() {
      step = undefined // the run before this one has ended it
      blocks.drop()
      return [started()]
    },
    pause(waiting) {
      const interrupts = waiting.filter(({ kind }) => kind === 'approval').map(interruptOf)
      // A call without a result is the client's to run.
      const outcome: AgOutcome =
        interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
      return [...endStep(), { type: 'RUN_FINISHED', threadId, runId, outcome }]
    },
  }
}

/** `text`: the last text of the round, which has the calls. */
function callsOf(event: Event<'model-answered'>, text: string | undefined): AgEvent[] {
  const parentMessageId = text ?? `calls-${event.turn}-${event.round}`
  return event.calls.flatMap(({ ordinal, name, rawArguments: delta }): AgEvent[] => {
    const toolCallId = callIdOf({ ...event, ordinal })
    return [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId },
      ...(delta === '' ? [] : [{ type: 'TOOL_CALL_ARGS' as const, toolCallId, delta }]),
      { type: 'TOOL_CALL_END', toolCallId },
    ]
  })
}

function result(toolCallId: string, content: string): AgEvent {
  const messageId = `result-${toolCallId}`
  return { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' }
}

function interruptOf(call: WaitingCall): AgInterrupt {
  const { id, callId, name, rule, until, question, rawArguments } = call
  const values = question?.mode === 'form' ? { values: question.schema } : {}
  const properties = { ...responseSchema.properties, ...values }
  const address = question?.mode === 'url' ? ` Open ${question.url}` : ''
  const rest = rawArguments === undefined ? '' : ` Its arguments: ${rawArguments}`
  return {
    id,
    reason: 'approval',
    toolCallId: callId,
    responseSchema: { ...responseSchema, properties },
    message: `${name} waits for a person: ${rule}${address}${rest}`,
    expiresAt: new Date(until).toISOString(),
  }
}

type Assistant = Extract<AgMessage, { role: 'assistant' }>

/**
 * The messages that a client of AG-UI has after the events of a run. AG-UI cannot void a text, so a
 * run whose attempt failed sends all messages again, without that text.
 */
type AgMessages = {
  /** In the order in which they are sent. */
  see(event: AgEvent): void
  /** Removes these texts. */
  drop(ids: readonly string[]): void
  all(): AgMessage[]
}

/** `before`: the messages that the client had before the run. */
function createAgMessages(before: readonly AgMessage[]): AgMessages {
  let own: AgMessage[] = []

  function assistant(id: string): Assistant {
    const known = own.find((one): one is Assistant => one.role === 'assistant' && one.id === id)
    if (known !== undefined) return known
    const message: Assistant = { id, role: 'assistant' }
    own.push(message)
    return message
  }

  function functionOf(callId: string) {
    const calls = own.flatMap((one) => (one.role === 'assistant' && one.toolCalls) || [])
    return calls.find(({ id }) => id === callId)?.function
  }

  return {
    see(event) {
      if (event.type === 'TEXT_MESSAGE_CONTENT') {
        const message = assistant(event.messageId)
        message.content = (message.content ?? '') + event.delta
      }
      if (event.type === 'TOOL_CALL_START') {
        const message = assistant(event.parentMessageId)
        const called = { name: event.toolCallName, arguments: '' }
        const call = { id: event.toolCallId, type: 'function' as const, function: called }
        message.toolCalls = [...(message.toolCalls ?? []), call]
      }
      if (event.type === 'TOOL_CALL_ARGS') {
        const called = functionOf(event.toolCallId)
        if (called !== undefined) called.arguments += event.delta
      }
      if (event.type === 'TOOL_CALL_RESULT') {
        const { messageId, toolCallId, content } = event
        own.push({ id: messageId, role: 'tool', toolCallId, content })
      }
    },
    drop(ids) {
      own = own.filter(({ id }) => !ids.includes(id))
    },
    all: () => [...before, ...own],
  }
}
