// An agent on the AI SDK with one tool and a scripted model.

import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { z } from 'zod'
import { guardAiSdk } from '../../../client/adapters/ai-sdk.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import type { Call, Scripts } from './agent.ts'

type Answer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

/** At most 25 steps of an agent with one tool. */
export async function runAiSdk(
  way: 'generateText' | 'streamText',
  conversation: GuestConversation,
  {
    answers,
    result = () => 'done',
    toolChoice,
    needsApproval,
  }: Scripts & { toolChoice?: 'required'; needsApproval?: boolean },
) {
  const ran: string[] = []
  const prompts: Parameters<MockLanguageModelV4['doGenerate']>[0]['prompt'][] = []
  const choices: (string | undefined)[] = []
  const next = ({ prompt, toolChoice }: Parameters<MockLanguageModelV4['doGenerate']>[0]) => {
    prompts.push(prompt)
    choices.push(toolChoice?.type)
    return answerOf(answers(prompts.length))
  }
  const model = new MockLanguageModelV4({
    doGenerate: async (options) => next(options),
    doStream: async (options) => ({
      stream: simulateReadableStream({ chunks: chunksOf(next(options)) }),
    }),
  })
  const weir = guardAiSdk(conversation)
  const settings = {
    model: wrapLanguageModel({ model, middleware: weir.middleware }),
    tools: { exec: execTool(ran, { needsApproval, result }) },
    toolApproval: weir.toolApproval,
    stopWhen: isStepCount(25),
    prompt: 'list the files',
    ...(toolChoice && { toolChoice }),
  }
  const run = way === 'generateText' ? await generateText(settings) : streamText(settings)
  const text = await run.text
  const content = await run.content
  const requested = content.filter(({ type }) => type === 'tool-approval-request').length
  return { text, ran, requests: prompts, prompts, choices, requested }
}

export function execTool(
  ran: string[],
  { needsApproval = false, result }: Pick<Scripts, 'result'> & { needsApproval?: boolean } = {},
) {
  return tool({
    description: 'Run a command.',
    inputSchema: z.object({ command: z.string() }),
    needsApproval,
    execute: async ({ command }) => {
      ran.push(command)
      return result?.(command) ?? 'done'
    },
  })
}

export function answerOf(answer: Call[] | string): Answer {
  const total = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
  const isText = typeof answer === 'string'
  return {
    content: isText
      ? [{ type: 'text', text: answer }]
      : answer.length === 0
        ? [{ type: 'reasoning', text: 'Hm.' }]
        : answer.map(([toolCallId, input, toolName = 'exec']) => ({
            type: 'tool-call',
            toolCallId,
            toolName,
            input,
          })),
    finishReason: {
      unified: isText || answer.length === 0 ? 'stop' : 'tool-calls',
      raw: undefined,
    },
    usage: { inputTokens: total, outputTokens: { total: 1, text: 1, reasoning: 0 } },
    warnings: [],
  } as Answer
}

type Chunks =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer C>
    ? C[]
    : never

function chunksOf({ content, finishReason, usage }: Answer): Chunks {
  const parts = content.flatMap((part, n): Chunks => {
    if (part.type !== 'text') return [part as Chunks[number]]
    const id = `${n}`
    return [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: part.text },
      { type: 'text-end', id },
    ]
  })
  return [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }]
}
