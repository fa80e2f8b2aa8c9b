// The body of one request to Gemini. Its prompt cache holds for an equal prefix. A nudge is another
// part of the system instruction (I1): only the request with the nudge misses the cache.

import type { Agent } from '../../agents/agents.ts'
import type { Declaration } from '../../contract/messages.ts'
import type { ProviderRequest } from '../exchange.ts'
import type { Json } from '../format.ts'
import { parsedSchema } from '../request/parsed-schema.ts'
import { noCalls } from './members.ts'
import { geminiContents } from './messages.ts'

/** Throws if a tool's schema is not JSON, in an unchecked agent. */
export function geminiRequest({ model, system }: Agent, request: ProviderRequest): Json {
  const { history, rebuilt, reasoningRefused: refused = 'none', contents, tools } = request
  const texts = [request.system ?? system, request.nudge ?? ''].filter((text) => text.trim() !== '')
  return {
    ...(texts.length > 0 && {
      systemInstruction: { parts: texts.map((text) => ({ text: text.toWellFormed() })) },
    }),
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map(declarationOf) }],
      ...(request.textOnly && { toolConfig: noCalls }),
    }),
    contents: geminiContents(history, { model: model.name, refused, rebuilt, contents }),
    generationConfig: {
      maxOutputTokens: model.maxOutputTokens,
      ...(model.temperature !== undefined && { temperature: model.temperature }),
      ...(model.topP !== undefined && { topP: model.topP }),
      ...(model.seed !== undefined && { seed: model.seed }),
      ...(model.reasoningEffort !== undefined && {
        thinkingConfig: { thinkingLevel: model.reasoningEffort.toUpperCase() },
      }),
    },
    ...(model.serviceTier !== undefined && { serviceTier: model.serviceTier }),
  }
}

function declarationOf(declaration: Declaration): Json {
  const { name, description } = declaration
  return { name, description, parametersJsonSchema: parsedSchema(declaration) }
}
