// The body of one Responses request. Nothing is stored at the provider: the history is Weir's, and
// the whole of it goes with each request. So the model's reasoning has to come encrypted, and goes
// back as it came. What is the same from one request to the next comes first, for the prompt cache:
// the tools, the instructions, the conversation so far. A nudge is appended to the instructions
// (I1): the request that shows one reads the conversation anew, the next one does not.

import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
} from 'openai/resources/responses/responses'
import type { Agent } from '../../../../shared/agents/agents.ts'
import type { Declaration } from '../../../../shared/contract/messages.ts'
import type { ProviderRequest } from '../provider.ts'
import { responsesInput } from './input.ts'

/** Models of OpenAI that do not reason, and refuse to be asked for it. */
const withoutReasoning = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt)/

/** Throws where a tool's schema is no JSON: the agent's file was not checked. */
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
    input: responsesInput(request.history, model.name, request.rebuilt),
    max_output_tokens: model.maxOutputTokens,
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    store: false,
    ...(withoutReasoning.test(model.name) ? {} : { include: ['reasoning.encrypted_content'] }),
    stream: true,
  }
}

/** Not strict: that would want schemas of a form of its own. The validator checks the arguments. */
function toolOf({ name, description, schema }: Declaration): FunctionTool {
  return {
    type: 'function',
    name,
    description,
    parameters: JSON.parse(schema) as Record<string, unknown>,
    strict: false,
  }
}
