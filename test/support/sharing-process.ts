// One of the processes that share a data folder, for tests. It opens Weir with a tool that records
// its starts. It asks the questions that it gets as lines of JSON.
// Usage: sharing-process.ts OPTIONS, a JSON object.

import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { anthropic, defineAgent, defineTool, Weir, WeirError } from '../../client/weir.ts'

/** `context`: the tool needs it. `toolVersion`: a part of the tool's definition. */
export type SharingOptions = {
  dataFolder: string
  url: string
  startsFile: string
  stages?: 'auto' | 'here' | 'elsewhere'
  toolVersion?: string
  toolMs?: number
}

export type SharingQuestion = { text: string; conversation: string; messageId: string }

/** `pid`: of the process that ran the tool. */
export type SharingLine =
  | { type: 'open' }
  | { type: 'refused'; code: string; message: string }
  | { type: 'finished'; messageId: string; outcome: string; reply: string }
  | { type: 'failed'; messageId: string; code: string; message: string }

const options = JSON.parse(process.argv[2] ?? '') as SharingOptions
const say = (line: SharingLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const note = defineTool({
  name: 'note',
  description: `Notes a text ${options.toolVersion ?? ''}`,
  parameters: z.object({ n: z.string() }),
  needsContext: z.object({ user: z.string() }),
  async run({ n }, { context, idempotencyKey }) {
    appendFileSync(
      options.startsFile,
      `${JSON.stringify({ key: idempotencyKey, n, user: context.user, pid: process.pid })}\n`,
    )
    await new Promise((resolve) => setTimeout(resolve, options.toolMs ?? 0))
    return `noted ${n}`
  },
})
const agent = defineAgent({
  name: 'helper',
  model: anthropic('mock', { baseUrl: options.url }),
  system: 'You note texts.',
  tools: [note],
})
const { dataFolder, stages } = options

try {
  const weir = await Weir.open({ agents: [agent], dataFolder, ...(stages && { stages }) })
  say({ type: 'open' })
  for await (const line of createInterface(process.stdin)) {
    const question = JSON.parse(line) as SharingQuestion
    const { messageId } = question
    weir.ask({ agent, ...question, context: { user: question.conversation } }).finished.then(
      ({ outcome, reply }) => say({ type: 'finished', messageId, outcome, reply }),
      (error: unknown) => say({ type: 'failed', messageId, ...partsOf(error) }),
    )
  }
  await weir.close()
} catch (error) {
  say({ type: 'refused', ...partsOf(error) })
}

function partsOf(error: unknown): { code: string; message: string } {
  return error instanceof WeirError
    ? { code: error.code, message: error.message }
    : { code: 'none', message: String(error) }
}
