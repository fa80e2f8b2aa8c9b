// The tool kind `mcp`: one `tools/call` to a server. Connections are kept for later calls.
// A request that was sent may take effect, also if its connection breaks. Nothing is sent
// twice. The answers of a person go to the server in the form that it requested.
// Progress extends the time of a call, up to the limit of the server's `wallMs`.
// The server gets the numbers of the arguments digit by digit, as they were judged.

import type { CallToolResult, Progress } from '@modelcontextprotocol/client'
import type { McpServer, McpTool } from '../../agents/agents.ts'
import { withExactNumbers } from '../../lib/json/raw-numbers.ts'
import { serverTooSlow } from '../../model-texts/tools.ts'
import type { RunningTool, StartTool, ToolCall, ToolEnding } from '../tool.ts'
import { notReady, stopped, stoppedBefore, timedOut } from '../tool-endings.ts'
import { answered } from './answer-text.ts'
import { callTool } from './connection.ts'
import { answerInput } from './elicitation.ts'
import { failed } from './mcp-faults.ts'
import { tokenMask } from './token-file.ts'

export const startMcp: StartTool<McpTool> = (run, call) => startMcpCall(run, call)

/** For a front that passes the whole answer and the progress on to its host. */
export type McpObserver = {
  onAnswer?(answer: CallToolResult): void
  onProgress?(progress: Progress): void
}

type End = { kind: 'timeout'; timeoutMs: number } | { kind: 'stop'; why: string }

export function startMcpCall(
  { server, tool }: McpTool,
  call: ToolCall,
  { onAnswer, onProgress }: McpObserver = {},
): RunningTool {
  const { clock, idempotencyKey, traceparent, ask } = call
  const started = Promise.withResolvers<boolean>()
  const ended = Promise.withResolvers<ToolEnding>()
  const controller = new AbortController()
  let isSent = false
  let isOver = false
  const wallMs = Math.min(call.timeoutMs, server.wallMs)
  const wallEndsAt = clock.monotonic() + wallMs
  let isWaiting = false
  let cancelTimer = untilDeadline()
  let refused: string | undefined
  const answer =
    ask &&
    answerInput({
      server: server.name,
      ask,
      hide: tokenMask(server) ?? ((text) => text),
      leftMs: () => (isOver ? 0 : wallEndsAt - clock.monotonic()),
      onWait: pauseIdle,
      onRefused: (fault) => {
        refused = fault
      },
    })

  callTool(
    server,
    { name: tool, arguments: exactArguments(call.arguments), idempotencyKey, traceparent },
    {
      controller,
      onProgress(progress) {
        if (isOver) return
        restartTimer()
        onProgress?.(progress)
      },
      onSent() {
        isSent = true
        started.resolve(true)
      },
      answer,
    },
  ).then(
    (result) => {
      if (!isOver) onAnswer?.(result)
      const isForwarded = onAnswer !== undefined
      finish(answered(result, { outputBytesMax: server.outputBytesMax, isForwarded }))
    },
    (error: unknown) => finish(failed(error, isSent, server.name)),
  )

  return {
    started: started.promise,
    ended: ended.promise,
    stop: (_graceMs, why) => end({ kind: 'stop', why }), // the server gets a cancel, and decides
  }

  /** A person may answer slowly: only the wall limit goes on. */
  function pauseIdle(): () => void {
    isWaiting = true
    restartTimer()
    return () => {
      isWaiting = false
      if (!isOver) restartTimer()
    }
  }

  function restartTimer(): void {
    cancelTimer()
    cancelTimer = untilDeadline()
  }

  /** The nearer one of two deadlines. */
  function untilDeadline(): () => void {
    const wallLeftMs = wallEndsAt - clock.monotonic()
    const isWall = isWaiting || wallLeftMs <= server.timeoutMs
    const timeoutMs = isWall ? wallMs : server.timeoutMs
    return clock.after(isWall ? wallLeftMs : timeoutMs, () => end({ kind: 'timeout', timeoutMs }))
  }

  function end(cause: End): void {
    if (isOver) return
    if (cause.kind === 'stop') finish(isSent ? stopped(cause.why) : stoppedBefore(cause.why))
    else if (isSent) finish(timedOut(cause.timeoutMs))
    else {
      const event = serverTooSlow(server.name)
      finish(notReady({ event, timeoutMs: cause.timeoutMs, fault: event }))
    }
    controller.abort(new Error('the call ended'))
  }

  function finish(ending: ToolEnding): void {
    if (isOver) return
    isOver = true
    cancelTimer()
    started.resolve(false)
    const fault = ending.fault ?? refused
    ended.resolve(withoutTokens(server, { ...ending, ...(fault !== undefined && { fault }) }))
  }
}

function withoutTokens(server: McpServer, ending: ToolEnding): ToolEnding {
  const hide = tokenMask(server)
  if (hide === undefined) return ending
  const { text, reason, fault } = ending
  return {
    ...ending,
    text: hide(text),
    reason: hide(reason),
    ...(fault !== undefined && { fault: hide(fault) }),
  }
}

/** The SDK passes the values on to JSON.stringify. */
function exactArguments(text: string): Record<string, unknown> {
  return withExactNumbers(text) as Record<string, unknown>
}
