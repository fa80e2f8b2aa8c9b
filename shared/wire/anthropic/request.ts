// The body of one request to Anthropic's Messages API. The prompt cache reads tools, system and
// messages in this order and holds for an equal prefix. So changing parts follow stable ones, and
// `cache_control` marks the end of each stable part. A nudge follows the mark of the system prompt.
// Only the request with the nudge misses the cache of the conversation.

import type {
  CacheControlEphemeral,
  ContentBlockParam,
  MessageCreateParams,
  OutputConfig,
  TextBlockParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages'
import type { Agent } from '../../agents/agents.ts'
import type { Declaration } from '../../contract/messages.ts'
import type { ProviderRequest } from '../exchange.ts'
import { parsedSchema } from '../request/parsed-schema.ts'
import { conversationMessages } from './conversation-messages.ts'

const cached: { cache_control: CacheControlEphemeral } = { cache_control: { type: 'ephemeral' } }

/** Throws if a tool's schema is not JSON, in an unchecked agent. */
export function messageRequest(
  { model, system }: Agent,
  request: ProviderRequest,
): MessageCreateParams {
  const tools = request.tools.map(toolOf)
  const { history, rebuilt, reasoningRefused, contents } = request
  const messages = conversationMessages(history, rebuilt, reasoningRefused, contents)
  markLast(tools)
  markLast(messages.at(-1)?.content ?? [])
  return {
    model: model.name,
    max_tokens: model.maxOutputTokens,
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(model.topP === undefined ? {} : { top_p: model.topP }),
    ...effortOf(model.reasoningEffort),
    ...tierOf(model.serviceTier),
    ...(tools.length === 0
      ? {}
      : { tools, ...(request.textOnly ? { tool_choice: { type: 'none' } } : {}) }),
    ...systemOf(request.system ?? system, request.nudge),
    messages,
  }
}

type Effort = NonNullable<OutputConfig['effort']>

/** agentsInFiles has refused the others. */
function effortOf(effort: string | undefined): { output_config?: OutputConfig } {
  return effort === undefined ? {} : { output_config: { effort: effort as Effort } }
}

function tierOf(tier: string | undefined): Pick<MessageCreateParams, 'service_tier'> {
  return tier === undefined
    ? {}
    : { service_tier: tier as NonNullable<MessageCreateParams['service_tier']> }
}

function toolOf(declaration: Declaration): Tool {
  const { name, description } = declaration
  return { name, description, input_schema: parsedSchema(declaration) as Tool.InputSchema }
}

function systemOf(agent: string, nudge: string | null): { system?: TextBlockParam[] } {
  const system: TextBlockParam[] = []
  if (agent.trim() !== '') system.push({ type: 'text', text: agent, ...cached })
  if (nudge !== null && nudge.trim() !== '')
    system.push({ type: 'text', text: nudge.toWellFormed() })
  return system.length === 0 ? {} : { system }
}

/** The last message is the user's (CONVERSATION-MESSAGES-3), so its last block accepts a mark. */
function markLast(blocks: (Tool | ContentBlockParam)[]): void {
  const last = blocks.at(-1)
  if (last !== undefined) Object.assign(last, cached)
}
