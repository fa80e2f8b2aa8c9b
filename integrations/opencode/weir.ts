// Weir's plug-in for OpenCode: each call waits for Weir's verdict, and a turn without progress ends.
// OpenCode shows a plug-in no result of a call that failed, so these are read from the messages of the
// next request.

import { type Call, type Judged, type Place, weirHooks } from '../weir-hooks.ts'

type TextPart = { type: 'text'; text: string; synthetic?: boolean }
type ToolPart = {
  type: 'tool'
  callID: string
  tool: string
  state: { status: string; input: unknown; error?: string }
}
type Part = TextPart | ToolPart | { type: 'other' }
type Message = { info: { id: string; role: string; sessionID: string }; parts: Part[] }
/** Of a tool of OpenCode, or of an MCP server. */
type Output = { output?: string; content?: { type: string; text?: string }[] }
type Client = {
  session: { abort(options: { path: { id: string } }): Promise<unknown> }
  tui: { showToast(options: { body: Record<string, unknown> }): Promise<unknown> }
}
type CallOf = { sessionID: string; callID: string; tool: string }

const sessionsMax = 1_000

export const Weir = async ({ client }: { client: Client }) => {
  const weir = weirHooks('opencode')
  /** The prompt of each session's turn. */
  const turns = new Map<string, string>()

  const placeOf = (session: string): Place => ({ session, turn: turns.get(session) })

  async function show(reason: string): Promise<void> {
    if (process.argv.includes('run')) process.stderr.write(`${reason}\n`)
    const body = { title: 'Weir', message: reason, variant: 'warning', duration: 30_000 }
    await client.tui.showToast({ body }).catch(() => {}) // a text to the user is not vital
  }

  async function end(session: string, { end: reason }: Judged): Promise<void> {
    if (reason === undefined) return
    await show(reason)
    // Not awaited: OpenCode answers when the turn has ended, and the turn waits for this hook.
    client.session.abort({ path: { id: session } }).catch(() => {})
  }

  async function readFailed({ info, parts }: Message, kind: 'new' | 'old'): Promise<void> {
    for (const part of parts) {
      if (part.type !== 'tool' || part.state.status !== 'error') continue
      const { callID: id, tool: name, state } = part
      const error = state.error ?? ''
      const call = { id, name, input: state.input }
      const judged = await weir.failed(placeOf(info.sessionID), call, error, kind)
      state.error = withAdvice(error, judged.advice)
      await end(info.sessionID, judged)
    }
  }

  return {
    'chat.message': async (
      { sessionID }: { sessionID: string },
      { message, parts }: { message: { id: string }; parts: Part[] },
    ) => {
      turns.delete(sessionID)
      turns.set(sessionID, message.id)
      const [oldest] = turns.keys()
      if (turns.size > sessionsMax && oldest !== undefined) turns.delete(oldest)
      const texts = parts.flatMap((part) =>
        part.type === 'text' && part.synthetic !== true ? [part.text] : [],
      )
      const refusal = await weir.prompt(placeOf(sessionID), texts.join('\n'))
      if (refusal === undefined) return
      await show(refusal) // OpenCode shows no text of the error
      throw new Error(refusal)
    },

    'tool.execute.before': async (call: CallOf, { args }: { args: unknown }) => {
      const judged = await weir.before(placeOf(call.sessionID), callOf(call, args))
      if (judged.deny === undefined) return
      await end(call.sessionID, judged)
      throw new Error(judged.deny)
    },

    'tool.execute.after': async (call: CallOf & { args: unknown }, output: Output) => {
      // OpenCode calls this tool in place of one whose arguments break its schema.
      const result = { isError: call.tool === 'invalid', text: textOf(output) }
      const judged = await weir.after(placeOf(call.sessionID), callOf(call, call.args), result)
      if (judged.advice !== undefined) {
        if (output.output === undefined) output.content?.push({ type: 'text', text: judged.advice })
        else output.output = withAdvice(output.output, judged.advice)
      }
      await end(call.sessionID, judged)
    },

    'experimental.chat.messages.transform': async (_: unknown, shown: { messages: Message[] }) => {
      const prompt = shown.messages.findLastIndex(({ info }) => info.role === 'user')
      for (const [at, message] of shown.messages.entries())
        await readFailed(message, at > prompt ? 'new' : 'old')
    },

    event: async ({ event }: { event: { type: string; properties: { sessionID?: string } } }) => {
      const { sessionID } = event.properties
      if (event.type === 'session.idle' && sessionID !== undefined)
        await weir.stop(placeOf(sessionID))
    },
  }
}

function callOf({ callID, tool }: CallOf, input: unknown): Call {
  return { id: callID, name: tool, input }
}

function textOf({ output, content = [] }: Output): string {
  return output ?? content.map(({ text = '' }) => text).join('\n')
}

function withAdvice(text: string, advice = ''): string {
  return advice === '' ? text : `${text}\n\n${advice}`
}
