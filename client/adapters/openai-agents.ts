// OpenAI Agents (`weir-agents/openai-agents`): a wrapper of the model, and a guardrail of its tools.
// Owns: the SDK's items as a guest's history, its calls' denials. Needs types only.
// The model reads Weir's denial also where the SDK drops it. The SDK redacts the guardrail's
// text if arguments break the schema, and calls no guardrail if they are no JSON.
// Advice changes one request and no item of the run.
// A history that the provider keeps cannot be judged, so such a request fails.

import type { Model, Tool, ToolInputGuardrailDefinition } from '@openai/agents'
import { limits } from '../../shared/contract/limits.ts'
import { newest } from '../../shared/lib/newest.ts'
import { answerUnseen } from '../../shared/model-texts/guests.ts'
import {
  callsIn,
  endedStream,
  endOf,
  offered,
  type Request,
  type Response,
  shownInput,
  wordsOf,
} from '../../shared/wire/openai-agents/items.ts'
import type { GuestConversation } from '../guard/guest-conversation.ts'
import { denialOf, denialsOf, endText, firstVerdicts, type ToJudge } from './call-verdict.ts'

export type GuardedOpenAIAgents = {
  /** Wraps the model of an agent. */
  model(model: Model): Model
  /** The same tools, each function with the guardrail. */
  tools<T extends Tool<never>>(tools: readonly T[]): T[]
  /** For a tool's `inputGuardrails`, if `tools` does not fit. */
  inputGuardrail: ToolInputGuardrailDefinition<never>
}

/** Guards the requests of the model and the calls of function tools. */
export function guardOpenAIAgents(conversation: GuestConversation): GuardedOpenAIAgents {
  const rounds = newest<ToJudge>(limits.adapterCallsMax)
  const denials = newest<string | undefined>(limits.adapterCallsMax)

  async function advised(request: Request) {
    if (request.previousResponseId !== undefined || request.conversationId !== undefined)
      throw new Error(
        'the provider keeps the history of this run, so Weir cannot judge it: run the agent ' +
          'without previousResponseId and conversationId',
      )
    const { input, modelSettings, signal } = request
    const guest = { format: 'openai-agents' as const, body: { input, tools: offered(request) } }
    const advice = await conversation.beforeModel(guest, signal)
    const { action, text } = advice
    return {
      guest,
      end: action === 'end' ? endOf(endText(advice)) : undefined,
      request: {
        ...request,
        input: shownInput(input, text, (call) => denials.get(call)),
        ...(action === 'text_only' && { modelSettings: { ...modelSettings, toolChoice: 'none' } }),
      },
    }
  }

  async function judge(round: ToJudge, output: Response['output']) {
    const denied = denialsOf(await firstVerdicts(conversation, round))
    for (const call of callsIn(output)) {
      rounds.set(call.callId, round)
      denials.set(wordsOf(call), denied.get(call.callId))
    }
  }

  const inputGuardrail: ToolInputGuardrailDefinition<never> = {
    type: 'tool_input',
    name: 'weir',
    async run({ toolCall: { callId, name, arguments: input } }) {
      const round = rounds.get(callId)
      const message =
        round === undefined
          ? answerUnseen
          : await denialOf(conversation, { callId, name, input }, round)
      return {
        behavior: message === undefined ? { type: 'allow' } : { type: 'rejectContent', message },
      }
    },
  }

  return {
    inputGuardrail,
    tools: (tools) =>
      tools.map((tool) =>
        tool.type === 'function'
          ? { ...tool, inputGuardrails: [inputGuardrail, ...(tool.inputGuardrails ?? [])] }
          : tool,
      ),
    model: (model) => ({
      ...(model.supportsPromptModelSelection !== undefined && {
        supportsPromptModelSelection: model.supportsPromptModelSelection,
      }),
      ...(model.getRetryAdvice && { getRetryAdvice: (args) => model.getRetryAdvice?.(args) }),
      async getResponse(asked) {
        const { guest, end, request } = await advised(asked)
        if (end !== undefined) return end
        const answer = await model.getResponse(request)
        await judge({ answer: { request: guest, answer }, signal: asked.signal }, answer.output)
        return answer
      },
      async *getStreamedResponse(asked) {
        const { guest, end, request } = await advised(asked)
        if (end !== undefined) {
          yield endedStream(end)
          return
        }
        for await (const event of model.getStreamedResponse(request)) {
          if (event.type === 'response_done') {
            const answer = { request: guest, answer: event.response }
            await judge({ answer, signal: asked.signal }, event.response.output)
          }
          yield event
        }
      },
    }),
  }
}
