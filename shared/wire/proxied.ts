// The APIs of models that the proxy judges. To add one that no guard and no agent needs, write its
// folder and add a line here. Such an API has a likeness: its requests in the form of another format.

import { bedrock } from './bedrock/format.ts'
import { bedrockInvoke } from './bedrock-invoke/format.ts'
import type { AnswerParts, LikeFormat } from './format.ts'
import { type ApiFormat, apiFormats } from './formats.ts'
import { ollama } from './ollama/format.ts'

export type ProxiedFormat = (ApiFormat & { like?: undefined }) | LikeFormat

export const proxiedFormats: readonly ProxiedFormat[] = [
  ...apiFormats,
  ollama,
  bedrock,
  bedrockInvoke,
]

/** With its readers and writers of answers. */
export type ModelFormat = ProxiedFormat & AnswerParts

/** A format whose answers a veto can hold. */
export type VetoedFormat = ModelFormat & Required<Pick<AnswerParts, 'strict'>>

export function canBeDenied(format: ModelFormat): format is VetoedFormat {
  return format.strict !== undefined
}
