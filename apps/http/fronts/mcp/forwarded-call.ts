// One call on its way to its server: the whole answer for the host, and the outcome for the log.
// A call is sent once. After a cut its outcome is unknown, and both host and log get
// that text.

import { randomUUID } from 'node:crypto'
import type { CallToolResult, Progress } from '@modelcontextprotocol/client'
import type { Logger } from 'pino'
import type { GuestResult } from '../../../../client/guard/guest-conversation.ts'
import type { McpTool } from '../../../../shared/agents/agents.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { startMcpCall } from '../../../../shared/tools/mcp/mcp.ts'
import type { ToolEnding } from '../../../../shared/tools/tool.ts'

export type Forwarded = { answer: CallToolResult; status: GuestResult['status']; text: string }

/**
 * `input`: the text of the arguments. `signal` aborts when the host cancels: the server gets a cancel.
 * Never rejects.
 */
export async function forwardCall(
  run: McpTool,
  input: string,
  {
    clock,
    signal,
    traceparent,
    onProgress,
    log,
  }: {
    clock: Clock
    signal: AbortSignal
    /** Of the host. */
    traceparent: string | undefined
    onProgress(progress: Progress): void
    log: Logger
  },
): Promise<Forwarded> {
  let whole: CallToolResult | undefined
  const { wallMs } = run.server
  const running = startMcpCall(
    run,
    {
      arguments: input,
      idempotencyKey: randomUUID(),
      clock,
      timeoutMs: wallMs,
      graceMs: 0,
      ...(run.server.traceparent === true && { traceparent }),
    },
    {
      onAnswer: (answer) => {
        whole = answer
      },
      onProgress,
    },
  )
  const stop = () => running.stop(0, 'the host cancelled the call')
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  const ending = await running.ended
  signal.removeEventListener('abort', stop)
  if (ending.fault !== undefined)
    log.warn({ server: run.server.name, tool: run.tool, fault: ending.fault }, 'a call failed')
  return {
    answer: whole ?? textResult(ending.text),
    status: statuses[ending.status] ?? 'unknown',
    text: ending.text,
  }
}

const statuses: Partial<Record<ToolEnding['status'], GuestResult['status']>> = {
  ok: 'ok',
  error: 'error',
  denied: 'error',
  skipped: 'error', // it was allowed, and an allowed call is never skipped
}

/** A result that no server gave. */
export function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** The answer with a further text for the model after its content. */
export function withText(answer: CallToolResult, text: string): CallToolResult {
  if (text === '') return answer
  return { ...answer, content: [...(answer.content ?? []), { type: 'text', text }] }
}
