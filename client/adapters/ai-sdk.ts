// AI SDK 7 (`weir-agents/ai-sdk`): middleware of the model, and the approval of its calls.
// Owns: advice in the SDK's requests, denials of its calls. Needs the types of `ai` only.
// Does not own: the SDK's prompts and streams (shared/wire/ai-sdk/parts.ts), waiting for a verdict
// (call-verdict.ts), the decisions.
// Advice changes one request and no message of the caller. Weir needs no `prepareStep`:
// the SDK calls it without the tools, and its messages carry forward to later steps.
// `toolApproval` replaces the tools' own `needsApproval` in the SDK, so it asks that too.

import { randomUUID } from 'node:crypto'
import type { LanguageModelMiddleware, ToolApprovalStatus } from 'ai'
import { limits } from '../../shared/contract/limits.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { newest } from '../../shared/lib/newest.ts'
import {
  type Content,
  ended,
  endedStream,
  type Finish,
  heldUntilFinish,
  type Params,
  priceList,
  roundWith,
  shownPrompt,
  userMessage,
  withWeir,
} from '../../shared/wire/ai-sdk/parts.ts'
import { weirIn } from '../../shared/wire/ai-sdk/weir-member.ts'
import { isStandardSchema } from '../define/standard-schema.ts'
import type { GuestConversation } from '../guard/guest-conversation.ts'
import { denialOf, denialsOf, endText, firstVerdicts, type ToJudge } from './call-verdict.ts'

export type GuardedAiSdk = {
  /** For `wrapLanguageModel({ model, middleware })`. */
  middleware: LanguageModelMiddleware
  /** For `generateText`, `streamText` and agents. Waits as long as a call waits for a person. */
  toolApproval(call: {
    toolCall: { toolCallId: string; toolName: string; input: unknown }
    tools: { [name: string]: { needsApproval?: NeedsApproval; inputSchema?: unknown } } | undefined
    toolsContext?: unknown
    messages: { role: string; content: unknown }[]
  }): Promise<ToolApprovalStatus>
}

type NeedsApproval = boolean | ((input: never, options: never) => boolean | PromiseLike<boolean>)

/** Guards every request of the model and every call of the SDK's tools. */
export function guardAiSdk(conversation: GuestConversation): GuardedAiSdk {
  const rounds = newest<ToJudge>(limits.adapterRoundsMax)

  async function advised(params: Params, { provider, modelId }: LanguageModel) {
    const { prompt, tools = [] } = params
    const request = {
      format: 'ai-sdk' as const,
      body: { messages: prompt, tools },
      model: { provider: priceList(provider), name: modelId },
    }
    const advice = await conversation.beforeModel(request, params.abortSignal)
    const { action, text } = advice
    const isTextOnly = action === 'text_only' || action === 'end'
    const isForced = params.toolChoice?.type === 'required' || params.toolChoice?.type === 'tool'
    return {
      request,
      end: action === 'end' ? endText(advice) : undefined,
      params: {
        ...params,
        prompt: [...shownPrompt(prompt), ...(text === '' ? [] : [userMessage(text)])],
        ...(isTextOnly && { toolChoice: { type: 'none' as const } }),
      },
      /** If its caller forces calls, the SDK rejects a text, except from a stream that was cut. */
      finish: <F extends Finish>(finish: F): F =>
        isTextOnly && isForced
          ? { ...finish, finishReason: { unified: 'interrupted', raw: undefined } }
          : finish,
    }
  }

  /** Sends the answer to Weir. Returns its content, and each call with its text and denial. */
  async function judged(toJudge: ToJudge, content: Content[]) {
    const denials = denialsOf(await firstVerdicts(conversation, toJudge))
    const round = randomUUID()
    rounds.set(round, toJudge)
    return content.map((part) => {
      if (part.type !== 'tool-call' || part.providerExecuted) return part
      const denial = denials.get(part.toolCallId)
      return withWeir(part, { round, ...(denial !== undefined && { refusal: denial }) })
    })
  }

  return {
    middleware: {
      specificationVersion: 'v4',
      async wrapGenerate({ model, params: asked }) {
        const { request, end, params, finish } = await advised(asked, model)
        if (end !== undefined)
          return { ...finish(ended), content: [{ type: 'text', text: end }], warnings: [] }
        const result = await model.doGenerate(params)
        const toJudge = { answer: { request, answer: result }, signal: params.abortSignal }
        const content = await judged(toJudge, result.content)
        return finish({ ...result, content })
      },
      async wrapStream({ model, params: asked }) {
        const { request, end, params, finish } = await advised(asked, model)
        if (end !== undefined) return { stream: endedStream(end, finish(ended)) }
        const result = await model.doStream(params)
        const held = heldUntilFinish(finish, (answer) =>
          judged({ answer: { request, answer }, signal: params.abortSignal }, answer.content),
        )
        return { ...result, stream: result.stream.pipeThrough(held) }
      },
    },
    async toolApproval({ toolCall, tools, toolsContext, messages }) {
      const { toolCallId: callId, toolName, input } = toolCall
      const parsed = (value: unknown) => parsedBy(tools?.[toolName], value)
      const call = { callId, name: toolName, input, parsed }
      const known = rounds.get(`${weirIn(toolCall).round}`)
      const candidates = [known, roundIn(messages, callId)].filter((round) => round !== undefined)
      if (candidates.length === 0)
        return denied(`the model of ${toolName} has no middleware of Weir`)
      const denial = await denialOf(conversation, call, ...candidates)
      if (denial !== undefined) return denied(denial)
      const own = tools?.[toolName]?.needsApproval
      const context = isObject(toolsContext) ? toolsContext[toolName] : undefined
      const options = { toolCallId: callId, messages, context }
      const isNeeded = typeof own === 'function' ? own(input as never, options as never) : own
      return (await isNeeded) ? 'user-approval' : undefined
    },
  }
}

/** The answer with a call, if a person approved it in the SDK and a later process runs it. */
function roundIn(messages: { role: string; content: unknown }[], callId: string) {
  const answer = roundWith(callId, messages)
  return answer && { answer, signal: undefined }
}

/** The input that the SDK makes of the model's arguments: schemas fill in defaults and convert values. */
async function parsedBy(tool: { inputSchema?: unknown } | undefined, value: unknown) {
  const given = tool?.inputSchema
  const schema: unknown = typeof given === 'function' && !isStandardSchema(given) ? given() : given
  const validate = isStandardSchema(schema)
    ? schema['~standard'].validate
    : (schema as { validate?: Validate } | undefined)?.validate
  const result = await validate?.(value)
  return result !== undefined && 'value' in result ? result.value : value
}

/** As a schema of the SDK's `jsonSchema` has it. */
type Validate = (value: unknown) => { value?: unknown } | PromiseLike<{ value?: unknown }>

type LanguageModel = { provider: string; modelId: string }

function denied(reason: string): ToolApprovalStatus {
  return { type: 'denied', reason }
}
