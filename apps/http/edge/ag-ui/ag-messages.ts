// The messages that a client of AG-UI has after the events of a run. AG-UI cannot void a text, so a
// run whose attempt failed sends all messages again, without that text.

import type { AgEvent, AgMessage } from './ag-event.ts'

type Assistant = Extract<AgMessage, { role: 'assistant' }>

export type AgMessages = {
  /** In the order in which they are sent. */
  see(event: AgEvent): void
  /** Removes these texts. */
  drop(ids: readonly string[]): void
  all(): AgMessage[]
}

/** `before`: the messages that the client had before the run. */
export function createAgMessages(before: readonly AgMessage[]): AgMessages {
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
