// The body of one Responses request. The provider stores nothing: each request contains the whole
// history, and reasoning comes and returns encrypted. Stable parts come first, for the prompt
// cache: the tools, the instructions, the conversation so far. A nudge follows the instructions
// (I1). Only the request with the nudge misses the cache of the conversation.

import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
} from 'openai/resources/responses/responses'
import type { Agent } from '../../agents/agents.ts'
import type { Declaration } from '../../contract/messages.ts'
import type { ProviderRequest } from '../exchange.ts'
import type { openaiTiers } from '../openai/api.ts'
import { responsesInput } from './input.ts'

/** OpenAI's models without reasoning, which refuse the option. */
const withoutReasoning = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt)/

/** Throws if a tool's schema is not JSON, in an unchecked agent. */
export function responsesRequest(
  { model, system }: Agent,
  request: ProviderRequest,
): ResponseCreateParamsStreaming {
  const tools = request.tools.map(toolOf)
  const instructions = [request.system ?? system, request.nudge ?? '']
    .filter((text) => text.trim() !== '')
    .join('\n\n')
  return {
    model: model.name,
    ...(tools.length === 0 ? {} : { tools, ...(request.textOnly ? { tool_choice: 'none' } : {}) }),
    ...(instructions === '' ? {} : { instructions: instructions.toWellFormed() }),
    input: responsesInput(request.history, {
      model: model.name,
      rebuilt: request.rebuilt,
      refused: request.reasoningRefused ?? 'none',
      contents: request.contents,
    }),
    max_output_tokens: model.maxOutputTokens,
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(model.topP === undefined ? {} : { top_p: model.topP }),
    ...(model.reasoningEffort === undefined
      ? {}
      : { reasoning: { effort: model.reasoningEffort } }),
    ...tierOf(model.serviceTier),
    store: false,
    ...(withoutReasoning.test(model.name) ? {} : { include: ['reasoning.encrypted_content'] }),
    stream: true,
  }
}

/** The readers of agents have refused values that the API does not have. */
function tierOf(tier: string | undefined): Pick<ResponseCreateParamsStreaming, 'service_tier'> {
  return tier === undefined ? {} : { service_tier: tier as (typeof openaiTiers)[number] }
}

/** Not strict, which needs schemas of a special form. The validator checks the arguments. */
function toolOf({ name, description, schema }: Declaration): FunctionTool {
  return {
    type: 'function',
    name,
    description,
    parameters: JSON.parse(schema) as Record<string, unknown>,
    strict: false,
  }
}
