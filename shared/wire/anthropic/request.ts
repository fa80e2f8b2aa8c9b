// The body of one request to Anthropic's Messages API, with valid messages for any history. Does not own:
// the words (utterances.ts).
//
// The prompt cache reads tools, system and messages in this order and holds for an equal prefix. So
// changing parts follow stable ones, and `cache_control` marks the end of each stable part. A nudge
// follows the mark of the system prompt. Only the request with the nudge misses the cache of the
// conversation.
//
// Every tool_use has exactly one tool_result, in the very next message and
// in the same order. Providers refuse anything else (I5.4).
// Equal entries give equal messages, and more entries only append,
// so the provider's prompt cache holds.
// User and assistant alternate, the user is first and last, and no block
// is blank.

import type {
  Base64ImageSource,
  CacheControlEphemeral,
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageCreateParams,
  OutputConfig,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import type { Agent } from '../../agents/agents.ts'
import type { Declaration, HistoryEntry, ReasoningRefusal } from '../../contract/messages.ts'
import type { Contents, ProviderRequest } from '../exchange.ts'
import { type SentContent, sentContents } from '../request/contents.ts'
import { parsedSchema } from '../request/parsed-schema.ts'
import {
  type CallIds,
  inputOf,
  type SpokenCall,
  usableName,
  utterances,
} from '../request/utterances.ts'

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

/** The last message is the user's, so its last block accepts a mark. */
function markLast(blocks: (Tool | ContentBlockParam)[]): void {
  const last = blocks.at(-1)
  if (last !== undefined) Object.assign(last, cached)
}

/** A message under construction. */
export type ConversationMessage = { role: 'user' | 'assistant'; content: ContentBlockParam[] }

const callIds: CallIds = { taken: /^[a-zA-Z0-9_-]{1,64}$/, made: (place) => `call_${place}` }
/** For a refused history: every id is new, because the old ones may be foreign to this server. */
const ownIds: CallIds = { ...callIds, taken: /^(?!)/ }

/** `history` in order of turn and round. `refused`: the refusal that the request answers. */
export function conversationMessages(
  history: HistoryEntry[],
  rebuilt = false,
  refused: ReasoningRefusal = 'none',
  known?: Contents,
): ConversationMessage[] {
  const messages: ConversationMessage[] = []
  for (const utterance of utterances(history, rebuilt ? ownIds : callIds)) {
    if (utterance.by === 'user')
      append(messages, 'user', [
        ...sentContents(utterance.contents, known).map(contentBlock),
        textBlock(utterance.text),
      ])
    else {
      const text = utterance.text === '' ? [] : [textBlock(utterance.text)]
      append(messages, 'assistant', [
        ...thinkingBlocks(utterance.thinking, refused),
        ...text,
        ...utterance.calls.map(toolUse),
      ])
      if (utterance.calls.length > 0) {
        const results = utterance.calls.map((spoken) => toolResult(spoken, known))
        append(messages, 'user', results)
      }
    }
  }
  return messages
}

/** Consecutive user texts, also after results, become one message. */
function append(
  messages: ConversationMessage[],
  role: ConversationMessage['role'],
  content: ContentBlockParam[],
): void {
  const last = messages.at(-1)
  if (last?.role === role) last.content.push(...content)
  else messages.push({ role, content })
}

function textBlock(text: string): TextBlockParam {
  return { type: 'text', text }
}

function contentBlock(content: SentContent): TextBlockParam | ImageBlockParam | DocumentBlockParam {
  if (content.kind === 'text') return textBlock(content.text)
  const { kind, mediaType, base64: data, name } = content
  return kind === 'pdf'
    ? {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data },
        title: name,
      }
    : {
        type: 'image',
        source: {
          type: 'base64',
          data,
          media_type: mediaType as Base64ImageSource['media_type'],
        },
      }
}

/**
 * Exactly as the provider signed them. Blocks of another provider, from before a change of model,
 * have no type. A host that requires thinking gets an empty block where there is none.
 */
function thinkingBlocks(
  blocks: Record<string, unknown>[],
  refused: ReasoningRefusal,
): ContentBlockParam[] {
  if (refused === 'unaccepted' || refused === 'damaged') return []
  const own = blocks.filter(({ type }) => typeof type === 'string')
  const sent =
    own.length === 0 && refused === 'missing'
      ? [{ type: 'thinking', thinking: '', signature: '' }]
      : own
  return sent as unknown as ContentBlockParam[]
}

function toolUse({ id, call }: SpokenCall): ToolUseBlockParam {
  return { type: 'tool_use', id, name: usableName(call.name, 128), input: inputOf(call) }
}

function toolResult({ id, result }: SpokenCall, known: Contents | undefined): ToolResultBlockParam {
  const contents = sentContents(result.contents, known).map(contentBlock)
  const text = result.text.trim() === '' ? [] : [textBlock(result.text)]
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: contents.length === 0 ? result.text : [...text, ...contents],
    ...(result.isError ? { is_error: true } : {}),
  }
}
