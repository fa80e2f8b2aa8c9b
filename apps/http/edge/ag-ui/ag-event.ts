// The events of AG-UI 1.0 that Weir sends. test/apps/http/edge/ag-ui checks them against the package
// `@ag-ui/client`.

export const agUiVersion = '1.0'

export type AgMessage =
  | { id: string; role: 'user'; content: string }
  | {
      id: string
      role: 'assistant'
      content?: string
      toolCalls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
    }
  | { id: string; role: 'tool'; toolCallId: string; content: string }

type Run = { threadId: string; runId: string }

/** `expiresAt`: ISO 8601. */
export type AgInterrupt = {
  id: string
  reason: 'approval'
  message: string
  toolCallId: string
  responseSchema: object
  expiresAt: string
}

export type AgUsage = { inputTokens: number; outputTokens: number; totalTokens: number }

export type AgOutcome =
  | { type: 'success' | 'cancelled' }
  | { type: 'interrupt'; interrupts: AgInterrupt[] }

export type AgEvent =
  | ({ type: 'RUN_STARTED'; protocolVersion: typeof agUiVersion } & Run)
  | ({ type: 'RUN_FINISHED'; outcome: AgOutcome; usage?: AgUsage[] } & Run)
  | { type: 'RUN_ERROR'; message: string; code: string; usage?: AgUsage[] }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | {
      type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END'
      messageId: string
    }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | {
      type: 'TOOL_CALL_RESULT'
      messageId: string
      toolCallId: string
      content: string
      role: 'tool'
    }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgMessage[] }
  | { type: 'CUSTOM'; name: string; value: unknown }
