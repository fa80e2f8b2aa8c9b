// Weir's plug-in for OpenClaw: each call waits for Weir's verdict, and a turn without progress ends.
// OpenClaw denies a call and blocks a run whose hook fails or needs too long.

import { randomUUID } from 'node:crypto'
import { type Judged, weirHooks } from '../weir-hooks.ts'

type Content = { type: string; text?: string }
type Context = { sessionId?: string; runId?: string; abortSignal?: AbortSignal }
type Called = { toolName: string; toolCallId?: string; params: unknown }
type Shown = {
  toolName: string
  toolCallId: string
  args: unknown
  isError?: boolean
  result: { content: Content[] }
}
type Events = {
  before_agent_run: { prompt: string }
  before_tool_call: Called
  after_tool_call: Called & { result?: { content?: Content[] }; error?: string }
  agent_end: object
}
type OpenClaw = {
  on<Name extends keyof Events>(
    name: Name,
    handler: (event: Events[Name], context: Context) => Promise<unknown>,
    options?: { timeoutMs: number },
  ): void
  registerAgentToolResultMiddleware(
    handler: (event: Shown, context: Context) => Promise<unknown>,
    options: { runtimes: string[] },
  ): void
}

/** The longest time that OpenClaw allows. Without an answer in this time OpenClaw denies the call. */
const verdict = { timeoutMs: 600_000 }
/** npx may have to fetch Weir first. */
const start = { timeoutMs: 150_000 }
/** Its own parts are known by this name inside OpenClaw only. */
const harness: string = 'openclaw/plugin-sdk/agent-harness'

/** A call without a known session or run is alone in a session, so no foreign session has its calls. */
const placeOf = ({ runId: turn, sessionId: session = turn ?? randomUUID() }: Context) => {
  return { session, turn }
}

export default {
  id: 'weir',
  name: 'Weir',
  description: 'Judges each call, and ends turns without progress',

  register(api: OpenClaw): void {
    const weir = weirHooks('openclaw')

    api.on(
      'before_agent_run',
      async ({ prompt }, context) => {
        const reason = await weir.prompt(placeOf(context), prompt)
        return reason === undefined ? undefined : { outcome: 'block', reason, message: reason }
      },
      start,
    )

    api.on(
      'before_tool_call',
      async ({ toolName: name, toolCallId: id = '', params: input }, context) => {
        const call = { id, name, input }
        const judged = await weir.before(placeOf(context), call, context.abortSignal)
        await end(context, judged)
        return judged.deny === undefined ? undefined : { block: true, blockReason: judged.deny }
      },
      verdict,
    )

    api.registerAgentToolResultMiddleware(
      async ({ toolCallId: id, toolName: name, args: input, isError = false, result }, context) => {
        const shown = { isError, text: textOf(result.content) }
        const judged = await weir.after(placeOf(context), { id, name, input }, shown)
        await end(context, judged)
        const text = judged.advice
        return (
          text && { result: { ...result, content: [...result.content, { type: 'text', text }] } }
        )
      },
      { runtimes: ['openclaw', 'codex'] },
    )

    // A call that OpenClaw itself refuses reaches no other hook. This hook may precede the middleware.
    api.on('after_tool_call', async ({ toolName: name, toolCallId, ...event }, context) => {
      if (toolCallId === undefined) return
      const call = { id: toolCallId, name, input: event.params }
      const text = event.error ?? textOf(event.result?.content)
      await end(context, await weir.failed(placeOf(context), call, text, 'unheld'))
    })

    api.on('agent_end', (_, context) => weir.stop(placeOf(context)))
  },
}

async function end({ sessionId }: Context, { end: reason }: Judged): Promise<void> {
  if (reason === undefined || sessionId === undefined) return
  process.stderr.write(`${reason}\n`)
  const { abortAgentHarnessRun } = await import(harness)
  abortAgentHarnessRun(sessionId)
}

function textOf(content: Content[] = []): string {
  return content.map(({ text = '' }) => text).join('\n')
}
