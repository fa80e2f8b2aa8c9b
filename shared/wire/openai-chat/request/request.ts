// The body of one Chat Completions request. Prompt caches read tools, then messages, and hold for
// an equal prefix. So stable parts come first: the tools, the system prompt, the conversation so
// far. A nudge is another system message before the conversation (I1). Only the request with the
// nudge misses the cache of the conversation.

import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { Agent } from '../../../agents/agents.ts'
import type { Declaration } from '../../../contract/messages.ts'
import type { ProviderRequest } from '../../exchange.ts'
import type { openaiTiers } from '../../openai/api.ts'
import { parsedSchema } from '../../request/parsed-schema.ts'
import { chatMessages } from './messages.ts'
import { serverHabits } from './server.ts'

/** Throws if a tool's schema is not JSON, in an unchecked agent. */
export function chatRequest(
  { model, system }: Agent,
  request: ProviderRequest,
): ChatCompletionCreateParamsStreaming {
  const habits = serverHabits(model.baseUrl)
  const tools = request.tools.map(toolOf)
  return {
    model: model.name,
    messages: [
      ...systemMessage(request.system ?? system),
      ...systemMessage(request.nudge ?? ''),
      ...chatMessages(
        request.history,
        { model: model.name, refused: request.reasoningRefused ?? 'none' },
        {
          nineCharacterIds: habits.nineCharacterIds,
          rebuilt: request.rebuilt,
          contents: request.contents,
        },
      ),
    ],
    ...(tools.length === 0 ? {} : { tools, ...(request.textOnly ? { tool_choice: 'none' } : {}) }),
    [habits.outputLimit]: model.maxOutputTokens,
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(model.topP === undefined ? {} : { top_p: model.topP }),
    ...(model.seed === undefined ? {} : { seed: model.seed }),
    ...(model.reasoningEffort === undefined ? {} : { reasoning_effort: model.reasoningEffort }),
    ...tierOf(model.serviceTier),
    stream: true,
    ...(habits.asksForUsage ? { stream_options: { include_usage: true } } : {}),
  }
}

/** The readers of agents have refused values that the API does not have. */
function tierOf(
  tier: string | undefined,
): Pick<ChatCompletionCreateParamsStreaming, 'service_tier'> {
  return tier === undefined ? {} : { service_tier: tier as (typeof openaiTiers)[number] }
}

function systemMessage(text: string): ChatCompletionMessageParam[] {
  return text.trim() === '' ? [] : [{ role: 'system', content: text.toWellFormed() }]
}

function toolOf(declaration: Declaration): ChatCompletionFunctionTool {
  const { name, description } = declaration
  return {
    type: 'function',
    function: { name, description, parameters: parsedSchema(declaration) },
  }
}
