// The chunks of the AI SDK's UI message stream v1 that Weir sends. test/apps/http/edge/ui-stream
// checks them against the package `ai`.

import type { InterventionData, TurnData } from '../chat/turn-data.ts'

/**
 * Tools are `dynamic`: the page does not know them. Weir runs them: `providerExecuted`, unless it is a
 * tool of the page.
 */
type OfTool = { toolCallId: string; toolName: string; dynamic: true; providerExecuted?: true }

export type UiChunk =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | ({ type: 'tool-input-available'; input: unknown } & OfTool)
  | ({ type: 'tool-input-error'; input: unknown; errorText: string } & OfTool)
  | {
      type: 'tool-approval-request'
      approvalId: string
      toolCallId: string
      reason: string
      isAutomatic?: true
    }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | { type: 'tool-output-available'; toolCallId: string; output: string }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'data-weir-intervention'; id: string; data: InterventionData }
  | { type: 'data-weir-turn'; id: string; data: TurnData }
  | { type: 'abort'; reason: string }
  | { type: 'error'; errorText: string }
  | {
      type: 'finish'
      finishReason: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'interrupted'
    }
