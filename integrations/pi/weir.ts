// Weir's plug-in for Pi: each call waits for Weir's verdict, and a turn without progress ends.

import { randomUUID } from 'node:crypto'
import { type Judged, weirHooks } from '../weir-hooks.ts'

type Content = { type: string; text?: string }
type Called = { toolCallId: string; toolName: string; input: unknown }
type Shown = Called & { content: Content[]; isError: boolean }
type Message = {
  role: string
  content: string | (Content & { id?: string; arguments?: unknown })[]
} & Partial<Omit<Shown, 'input' | 'content'>>
type Context = {
  hasUI: boolean
  ui: { notify(text: string, kind: 'warning'): void }
  sessionManager: { getSessionId(): string }
  signal?: AbortSignal
  abort(): void
}
type Events = {
  before_agent_start: { prompt: string }
  tool_call: Called
  tool_result: Shown
  context: { messages: Message[] }
  agent_end: object
}
type Pi = {
  on<Name extends keyof Events>(
    name: Name,
    handler: (event: Events[Name], context: Context) => Promise<unknown>,
  ): void
}

export default function weirForPi(pi: Pi): void {
  const weir = weirHooks('pi')
  let turn: string | undefined

  const placeOf = ({ sessionManager }: Context) => ({
    session: sessionManager.getSessionId(),
    turn,
  })
  const callOf = ({ toolCallId: id, toolName: name, input }: Called) => ({ id, name, input })

  function end(context: Context, { end: reason }: Judged): void {
    if (reason === undefined) return
    if (context.hasUI) context.ui.notify(reason, 'warning')
    else process.stderr.write(`${reason}\n`)
    context.abort()
  }

  pi.on('before_agent_start', async ({ prompt }, context) => {
    turn = randomUUID()
    end(context, { end: await weir.prompt(placeOf(context), prompt) })
  })

  // Pi blocks a call whose handler throws.
  pi.on('tool_call', async (called, context) => {
    const judged = await weir.before(placeOf(context), callOf(called), context.signal)
    end(context, judged)
    return judged.deny === undefined ? undefined : { block: true, reason: judged.deny }
  })

  pi.on('tool_result', async (called, context) => {
    const judged = await weir.after(placeOf(context), callOf(called), {
      isError: called.isError,
      text: textOf(called.content),
    })
    end(context, judged)
    const advice = judged.advice
    return advice && { content: [...called.content, { type: 'text', text: advice }] }
  })

  // Pi refuses a call of an unknown tool, or with arguments that break a schema, without any other event.
  pi.on('context', async ({ messages }, context) => {
    const prompt = messages.findLastIndex(({ role }) => role === 'user')
    const inputs = new Map<string, unknown>()
    for (const [at, { role, content, ...result }] of messages.entries()) {
      if (typeof content === 'string') continue
      for (const part of content) if (part.id !== undefined) inputs.set(part.id, part.arguments)
      const { toolCallId: id, toolName: name = '', isError } = result
      if (role !== 'toolResult' || isError !== true || id === undefined) continue
      const call = { id, name, input: inputs.get(id) ?? {} }
      const kind = at > prompt ? 'new' : 'old'
      const judged = await weir.failed(placeOf(context), call, textOf(content), kind)
      if (judged.advice !== undefined) content.push({ type: 'text', text: judged.advice })
      end(context, judged)
    }
    return { messages }
  })

  pi.on('agent_end', (_, context) => weir.stop(placeOf(context)))
}

function textOf(content: Content[]): string {
  return content.map(({ text = '' }) => text).join('\n')
}
