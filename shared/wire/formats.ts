// The formats of vendors. To add one, write its folder and add a line here.

import { aiSdk } from './ai-sdk/format.ts'
import { anthropic } from './anthropic/format.ts'
import type { WireFormat } from './format.ts'
import { langchain } from './langchain/format.ts'
import { openaiAgents } from './openai-agents/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

export const formats = [
  anthropic,
  openaiChat,
  openaiResponses,
  aiSdk,
  langchain,
  openaiAgents,
] as const

export type FormatName = (typeof formats)[number]['name']

export const formatNames: readonly FormatName[] = formats.map(({ name }) => name)

export function formatNamed(name: FormatName): WireFormat<FormatName>
/** Undefined: no format has this name. */
export function formatNamed(name: unknown): WireFormat<FormatName> | undefined
export function formatNamed(name: unknown): WireFormat<FormatName> | undefined {
  return formats.find((format) => format.name === name)
}

/** The format of an API of a model: requests and answers on the network. */
export type ModelFormat = WireFormat<FormatName> &
  Required<Pick<WireFormat, 'request' | 'answer' | 'stream'>>

export const modelFormats: readonly ModelFormat[] = formats.filter(isOfModel)

function isOfModel(format: WireFormat<FormatName>): format is ModelFormat {
  return format.request !== undefined && format.answer !== undefined && format.stream !== undefined
}
