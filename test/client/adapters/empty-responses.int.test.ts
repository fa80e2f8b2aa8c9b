// Incident I4 through each adapter with Weir's own stages: a model that thinks, and says nothing. The
// AI SDK and LangChain end a run there, so their host runs the agent again on the same messages.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { BaseMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { Agent, tool as agentsTool, type ModelResponse, Usage } from '@openai/agents'
import { generateText, isStepCount, type ModelMessage, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { guardAiSdk } from '../../../client/adapters/ai-sdk.ts'
import { guardLangChain } from '../../../client/adapters/langchain.ts'
import { guardOpenAIAgents } from '../../../client/adapters/openai-agents.ts'
import { type GuardSession, openGuard } from '../../../client/guard/guard.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import type { Call } from './agent.ts'
import { answerOf, execTool } from './ai-sdk-agent.ts'
import { ScriptedModel as LangChainModel } from './langchain-agent.ts'
import { ScriptedModel as AgentsModel, quietRunner } from './openai-agents-agent.ts'

const [runsMax, stepsMax] = [60, 200]
type Answers = (n: number) => Call[] | string
type Play = (
  conversation: GuestConversation,
  answers: Answers,
) => Promise<{ text: string; requests: number }>

const schema = z.object({ command: z.string() })
const about = { name: 'exec', description: 'Run a command.' }
const run = async ({ command }: { command: string }) => `ran ${command}`

const onAiSdk: Play = async (conversation, answers) => {
  let [requests, text] = [0, '']
  const weir = guardAiSdk(conversation)
  const doGenerate = async () => {
    requests += 1
    return answerOf(answers(requests))
  }
  const model = new MockLanguageModelV4({ doGenerate })
  const messages: ModelMessage[] = [{ role: 'user', content: 'list the files' }]
  for (let runs = 0; runs < runsMax && text === ''; runs += 1) {
    const result = await generateText({
      model: wrapLanguageModel({ model, middleware: weir.middleware }),
      tools: { exec: execTool([], { result: (command) => `ran ${command}` }) },
      toolApproval: weir.toolApproval,
      stopWhen: isStepCount(stepsMax),
      messages,
    })
    text = result.text
    messages.push(...result.responseMessages)
  }
  return { text, requests }
}

const onLangChain: Play = async (conversation, answers) => {
  const model = new LangChainModel(answers)
  const tools = [langchainTool(run, { ...about, schema })]
  const agent = createAgent({ model, tools, middleware: [guardLangChain(conversation)] })
  let messages: (BaseMessage | { role: string; content: string })[] = [
    { role: 'user', content: 'list the files' },
  ]
  let text: unknown
  for (let runs = 0; runs < runsMax && typeof text !== 'string'; runs += 1) {
    const state = await agent.invoke({ messages }, { recursionLimit: stepsMax })
    messages = state.messages
    text = state.messages.at(-1)?.content
  }
  return { text: String(text), requests: model.prompts.length }
}

/** The SDK itself goes on after an answer without text. `itemsOf`: of such an answer. */
const onOpenAIAgents =
  (itemsOf?: () => ModelResponse['output']): Play =>
  async (conversation, answers) => {
    const model = new AgentsModel(answers)
    const { getResponse } = model
    model.getResponse = async (request) => {
      const response = await getResponse.call(model, request)
      const isSilent = response.output.every(({ type }) => type === 'reasoning')
      return isSilent && itemsOf ? { usage: new Usage(), output: itemsOf() } : response
    }
    const weir = guardOpenAIAgents(conversation)
    const tools = weir.tools([agentsTool({ ...about, parameters: schema, execute: run })])
    const agent = new Agent({ name: 'ops', model: weir.model(model), tools })
    const options = { maxTurns: stepsMax }
    const { finalOutput } = await quietRunner().run(agent, 'list the files', options)
    return { text: String(finalOutput), requests: model.requests.length }
  }

let guard: GuardSession | undefined
afterEach(() => guard?.close())

/** A new call, then silence, and so on. */
const alternates: Answers = (n) => (n % 2 === 1 ? [[`c${n}`, `{"command":"ls ${n}"}`]] : [])

describe.each<[string, Play]>([
  ['the AI SDK', onAiSdk],
  ['LangChain', onLangChain],
  ['OpenAI Agents', onOpenAIAgents()],
  ['OpenAI Agents, with answers that leave no item', onOpenAIAgents(() => [])],
])('on %s a model that says nothing', (_, play) => {
  it.each<[string, number, Answers]>([
    ['from the beginning on, after two reminders', 4, () => []],
    ['after a call, after three reminders', 6, (n) => (n === 1 ? alternates(1) : [])],
    ['between new calls, after ten reminders', 23, alternates],
  ])('is ended by Weir in a text: %s', async (_, atMost, answers) => {
    guard = await openGuard({ agent: 'ops' })
    const { text, requests } = await play(guard.conversation('t1'), answers)
    expect([requests, text]).toEqual([atMost, expect.stringMatching(/no visible text/)])
  })

  it('may go on after a reminder, and its reply is the end', async () => {
    guard = await openGuard({ agent: 'ops' })
    const answers: Answers = (n) => (n < 4 ? alternates(n) : 'a.ts')
    const { text, requests } = await play(guard.conversation('t1'), answers)
    expect([requests, text]).toEqual([4, 'a.ts'])
  })
})
