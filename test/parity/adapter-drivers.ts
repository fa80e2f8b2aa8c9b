// The adapters on the real SDKs: a scripted model answers as the transcript does, and tools return its
// results. A run is one turn, and the advice to end it ends the run.

import { ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { Agent, tool as agentsTool } from '@openai/agents'
import { generateText, isStepCount, jsonSchema, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createAgent } from 'langchain'
import { guardAiSdk } from '../../client/adapters/ai-sdk.ts'
import { guardLangChain } from '../../client/adapters/langchain.ts'
import { guardOpenAIAgents } from '../../client/adapters/openai-agents.ts'
import type { GuestConversation, GuestFormat } from '../../client/guard/guest-conversation.ts'
import type { Transcript, TranscriptResponse } from '../../shared/transcript/transcript.ts'
import type { Call } from '../client/adapters/agent.ts'
import { answerOf } from '../client/adapters/ai-sdk-agent.ts'
import { ScriptedModel as LangChainModel } from '../client/adapters/langchain-agent.ts'
import {
  ScriptedModel as AgentsModel,
  quietRunner,
} from '../client/adapters/openai-agents-agent.ts'
import { requestOf } from '../support/guest-requests.ts'
import { type Driver, judged } from './driver.ts'
import { hiddenIn, hiddenInHistory, shownIn } from './formats.ts'

/** One run of an SDK's agent. `result`: of the call with this id. */
type Run = (
  conversation: GuestConversation,
  play: {
    user: string
    tools: { name: string; schema: object }[]
    answers: (n: number) => Call[] | string
    result: (callId: string) => { text: string; isError: boolean }
    steps: number
  },
) => Promise<unknown>

const runAiSdk: Run = async (conversation, { user, tools, answers, result, steps }) => {
  let n = 0
  const weir = guardAiSdk(conversation)
  const model = new MockLanguageModelV4({ doGenerate: async () => answerOf(answers(++n)) })
  const execute = (_: unknown, { toolCallId }: { toolCallId: string }) => {
    const { text, isError } = result(toolCallId)
    if (isError) throw new Error(text)
    return text
  }
  await generateText({
    model: wrapLanguageModel({ model, middleware: weir.middleware }),
    tools: Object.fromEntries(
      tools.map(({ name, schema }) => [name, tool({ inputSchema: jsonSchema(schema), execute })]),
    ),
    toolApproval: weir.toolApproval,
    stopWhen: isStepCount(steps + 1),
    maxRetries: 0,
    prompt: user,
  })
}

const runLangChain: Run = async (conversation, { user, tools, answers, result, steps }) => {
  const own = tools.map(({ name, schema }) =>
    langchainTool(
      (_: unknown, { toolCall }: { toolCall?: { id?: string } }) => {
        const { id = '' } = toolCall ?? {}
        const { text, isError } = result(id)
        const status = isError ? ('error' as const) : ('success' as const)
        return new ToolMessage({ content: text, tool_call_id: id, name, status })
      },
      { name, description: name, schema },
    ),
  )
  const model = new LangChainModel(answers)
  const agent = createAgent({ model, tools: own, middleware: [guardLangChain(conversation)] })
  await agent.invoke({ messages: user }, { recursionLimit: 10 * steps + 20 })
}

const runOpenAIAgents: Run = async (conversation, { user, tools, answers, result, steps }) => {
  const weir = guardOpenAIAgents(conversation)
  const own = tools.map(({ name, schema }) =>
    agentsTool({
      name,
      description: name,
      strict: false,
      parameters: schema as never,
      execute: (_: unknown, __: unknown, details?: { toolCall?: { callId: string } }) =>
        result(details?.toolCall?.callId ?? '').text,
    }),
  )
  const model = weir.model(new AgentsModel(answers))
  const agent = new Agent({ name: 'ops', model, tools: weir.tools(own) })
  await quietRunner().run(agent, user, { maxTurns: steps + 1 })
}

const over = 'the transcript is over'

function adapterDriver(name: string, format: GuestFormat, run: Run): Driver {
  return {
    name: `the adapter of ${name}`,
    endsAt: 'end',
    shows: (scenario) => shownIn(format, scenario),
    leavesOut: (transcript) =>
      hidden(transcript) ?? hiddenInHistory(transcript) ?? hiddenIn(format, transcript),
    async drive([guard], { turns, tools = [] }, thread) {
      const { user = '', responses = [] } = turns[0] ?? {}
      const results = new Map(
        responses.flatMap(({ calls }) => calls.map((call) => [call.id, call.result])),
      )
      const conversation = guard.conversation(thread)
      await run(conversation, {
        user,
        steps: responses.length,
        tools: tools.map(({ name, schema }) => ({ name, schema: JSON.parse(schema) })),
        answers(n) {
          const said = responses[n - 1]
          if (said === undefined) throw new Error(over)
          return scriptOf(said)
        },
        result(callId) {
          const known = results.get(callId)
          return typeof known === 'object' ? known : { text: '', isError: false }
        },
      }).catch((error: unknown) => {
        if (!String(error).includes(over)) throw error
      })
      // The answer to another request comes after the judgement of the last round.
      await judged(conversation, requestOf('anthropic', []))
    },
  }
}

export const adapterDrivers: readonly Driver[] = [
  adapterDriver('the AI SDK', 'ai-sdk', runAiSdk),
  adapterDriver('LangChain', 'langchain', runLangChain),
  adapterDriver('OpenAI Agents', 'openai-agents', runOpenAIAgents),
]

function scriptOf({ calls, text }: TranscriptResponse): Call[] | string {
  return calls.length === 0 ? text : calls.map(({ id, name, arguments: sent }) => [id, sent, name])
}

/** A transcript that no run of an SDK shows as a whole. */
function hidden({ turns, tools = [] }: Transcript): string | undefined {
  if (turns.length > 1) return 'a run of an SDK is one turn'
  const responses = turns.flatMap((turn) => turn.responses)
  if (responses.slice(0, -1).some(({ calls }) => calls.length === 0))
    return 'a response without calls ends the run'
  const names = new Set(tools.map(({ name }) => name))
  if (responses.some(({ calls }) => calls.some(({ name }) => !names.has(name))))
    return 'an SDK answers a call of a tool that it does not know by itself'
  if ([...names].some((name) => !/^[\w-]+$/.test(name))) return 'an SDK changes the names of tools'
  return undefined
}
