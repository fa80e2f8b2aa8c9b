// An agent on the AI SDK with one tool and a scripted model.

import {
  generateText,
  isStepCount,
  type ModelMessage,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { z } from 'zod'
import { guardAiSdk } from '../../../client/adapters/ai-sdk.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { type Call, prompt, type Scripts } from './agent.ts'

type Answer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

export async function runAiSdk(
  way: 'generateText' | 'streamText',
  conversation: GuestConversation,
  {
    answers,
    result = () => 'done',
    repeats = 0,
    steps = 25,
    toolChoice,
    needsApproval,
  }: Scripts & { toolChoice?: 'required'; needsApproval?: boolean },
) {
  const ran: string[] = []
  const requests: Parameters<MockLanguageModelV4['doGenerate']>[0]['prompt'][] = []
  const choices: (string | undefined)[] = []
  const next = (options: Parameters<MockLanguageModelV4['doGenerate']>[0]) => {
    requests.push(options.prompt)
    choices.push(options.toolChoice?.type)
    return answerOf(answers(requests.length))
  }
  const model = new MockLanguageModelV4({
    doGenerate: async (options) => next(options),
    doStream: async (options) => ({
      stream: simulateReadableStream({ chunks: chunksOf(next(options)) }),
    }),
  })
  const weir = guardAiSdk(conversation)
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }]
  let [text, requested] = ['', 0]
  for (let runs = 0; runs <= repeats && text === ''; runs += 1) {
    const settings = {
      model: wrapLanguageModel({ model, middleware: weir.middleware }),
      tools: { exec: execTool(ran, { needsApproval, result }) },
      toolApproval: weir.toolApproval,
      stopWhen: isStepCount(steps),
      messages,
      ...(toolChoice && { toolChoice }),
    }
    const run = way === 'generateText' ? await generateText(settings) : streamText(settings)
    text = await run.text
    requested = (await run.content).filter(({ type }) => type === 'tool-approval-request').length
    messages.push(...(await run.responseMessages))
  }
  return { text, ran, requests, choices, requested }
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
    const { type } = part
    if (type !== 'text' && type !== 'reasoning') return [part as Chunks[number]]
    const id = `${n}`
    return [
      { type: `${type}-start`, id },
      { type: `${type}-delta`, id, delta: part.text },
      { type: `${type}-end`, id },
    ]
  })
  return [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }]
}
