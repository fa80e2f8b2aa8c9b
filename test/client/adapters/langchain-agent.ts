// An agent on LangChain with one tool and a scripted model.

import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { guardLangChain } from '../../../client/adapters/langchain.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { type Call, prompt, type Scripts } from './agent.ts'

export async function runLangChain(
  way: 'invoke' | 'stream',
  conversation: GuestConversation,
  {
    answers,
    result = () => 'done',
    repeats = 0,
    steps = 25,
    returnDirect = false,
  }: Scripts & { returnDirect?: boolean },
) {
  const ran: string[] = []
  const exec = tool(
    async ({ command }: { command: string }) => {
      ran.push(command)
      return result(command)
    },
    {
      name: 'exec',
      description: 'Run a command.',
      schema: z.object({ command: z.string() }),
      returnDirect,
    },
  )
  const model = new ScriptedModel(answers)
  const agent = createAgent({ model, tools: [exec], middleware: [guardLangChain(conversation)] })
  let messages: BaseMessage[] = [new HumanMessage(prompt)]
  let text: unknown
  for (let runs = 0; runs <= repeats && typeof text !== 'string'; runs += 1) {
    const options = { recursionLimit: 4 * steps }
    if (way === 'invoke') messages = (await agent.invoke({ messages }, options)).messages
    else
      for await (const state of await agent.stream(
        { messages },
        { ...options, streamMode: 'values' },
      ))
        messages = state.messages as BaseMessage[]
    text = messages.at(-1)?.content
  }
  return { text, ran, requests: model.prompts, choices: model.choices }
}

export class ScriptedModel extends BaseChatModel {
  readonly prompts: BaseMessage[][] = []
  readonly choices: unknown[] = []
  readonly #answers: (n: number) => Call[] | string

  constructor(answers: (n: number) => Call[] | string) {
    super({})
    this.#answers = answers
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(_: unknown[], options?: Record<string, unknown>) {
    return this.withConfig({ ...options })
  }

  override async _generate(
    messages: BaseMessage[],
    options: { tool_choice?: unknown },
  ): Promise<ChatResult> {
    const message = this.#next(messages, options)
    return { generations: [{ text: '', message }] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: { tool_choice?: unknown },
  ) {
    const next = this.#next(messages, options)
    const { content, tool_calls, invalid_tool_calls, response_metadata } = next
    const calls = [...(tool_calls ?? []), ...(invalid_tool_calls ?? [])]
    const tool_call_chunks = calls.map(({ id, name, args }, index) => ({
      type: 'tool_call_chunk' as const,
      id,
      name,
      index,
      args: typeof args === 'string' ? args : JSON.stringify(args),
    }))
    const message = new AIMessageChunk({ content, tool_call_chunks, response_metadata })
    yield new ChatGenerationChunk({ text: '', message })
  }

  #next(messages: BaseMessage[], { tool_choice }: { tool_choice?: unknown }): AIMessage {
    this.prompts.push(messages)
    this.choices.push(tool_choice)
    const answer = this.#answers(this.prompts.length)
    if (typeof answer === 'string')
      return new AIMessage({ content: answer, response_metadata: { finish_reason: 'length' } })
    if (answer.length === 0)
      return new AIMessage({ content: [{ type: 'thinking', thinking: 'Hm.' }] })
    const [tool_calls, invalid_tool_calls] = [[], []] as [object[], object[]]
    for (const [id, args, name = 'exec'] of answer)
      try {
        tool_calls.push({ id, name, args: JSON.parse(args) as object })
      } catch {
        invalid_tool_calls.push({ id, name, args, type: 'invalid_tool_call' })
      }
    return new AIMessage({ content: '', tool_calls, invalid_tool_calls } as object)
  }
}
