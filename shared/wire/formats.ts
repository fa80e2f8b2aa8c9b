// The formats of vendors. To add one, write its folder and add a line here. A record has the reading of
// requests. The readers and writers of a model's answers are loaded with their first use.

import { aiSdk } from './ai-sdk/format.ts'
import { anthropic } from './anthropic/format.ts'
import type { WireFormat } from './format.ts'
import { gemini } from './gemini/format.ts'
import { langchain } from './langchain/format.ts'
import { openaiAgents } from './openai-agents/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

export const formats = [
  anthropic,
  openaiChat,
  openaiResponses,
  gemini,
  aiSdk,
  langchain,
  openaiAgents,
] as const

const all: readonly WireFormat[] = formats

/** The formats of guests. */
export type FormatName = Extract<(typeof formats)[number], { transcript: object }>['name']

/** A format of guests. */
export type HistoryFormat = WireFormat<FormatName> & Required<Pick<WireFormat, 'transcript'>>

export const historyFormats: readonly HistoryFormat[] = all.filter(hasTranscript)

export const formatNames: readonly FormatName[] = historyFormats.map(({ name }) => name)

export function formatNamed(name: FormatName): HistoryFormat
/** Undefined: no format has this name. */
export function formatNamed(name: unknown): HistoryFormat | undefined
export function formatNamed(name: unknown): HistoryFormat | undefined {
  return historyFormats.find((format) => format.name === name)
}

/** The format of an API of a model, as its requests show it. */
export type ApiFormat = HistoryFormat & Required<Pick<WireFormat, 'request' | 'model'>>

export const apiFormats: readonly ApiFormat[] = historyFormats.filter(isOfModel)

/** With the parts that its `model` loads. */
export async function wholeFormat<Api extends { model(): Promise<object> }>(
  api: Api,
): Promise<WholeFormat<Api>> {
  const loaded = wholeFormats.get(api) as WholeFormat<Api> | undefined
  if (loaded !== undefined) return loaded
  const whole = { ...api, ...(await api.model()) } as WholeFormat<Api>
  wholeFormats.set(api, whole)
  return whole
}

type WholeFormat<Api extends { model(): Promise<object> }> = Api & Awaited<ReturnType<Api['model']>>

/** A second import of a loaded module costs more than to read a small answer. */
const wholeFormats = new WeakMap<object, object>()

function hasTranscript(format: WireFormat): format is HistoryFormat {
  return format.transcript !== undefined
}

function isOfModel(format: HistoryFormat): format is ApiFormat {
  return format.request !== undefined && format.model !== undefined
}

/** The format of an API that agents use. */
export type AgentApiFormat = ApiFormat &
  Required<Pick<WireFormat<AgentFormatName>, 'name' | 'agent'>>

/** Its name in agent files. */
export type AgentFormatName = Extract<(typeof formats)[number], { agent: object }>['name']

export const agentFormats: readonly AgentApiFormat[] = apiFormats.filter(isForAgents)

function isForAgents(format: ApiFormat): format is AgentApiFormat {
  return format.agent !== undefined
}
