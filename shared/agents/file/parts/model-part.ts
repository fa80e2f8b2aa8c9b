// The model of an agent file: its provider, name, server and key.

import type { ModelLimits } from '../../../contract/messages.ts'
import { alternatives, shown } from '../../../settings/mistake.ts'
import type { Model } from '../../agents.ts'
import { writtenSecrets } from '../../secrets.ts'
import type { LimitsContent, ModelContent } from '../content.ts'
import { expanded, type Source } from '../source.ts'
import { urlOf } from '../url.ts'
import { variableValue } from '../variables.ts'
import { headersOf } from './headers-part.ts'

/** Enough for an answer with several calls, and below the limit of every current model. */
const outputTokensDefault = 8192

export function modelOf<Provider extends string>(
  source: Source<Provider>,
  content: ModelContent,
): Model<Provider> {
  const { name = '', maxOutputTokens = outputTokensDefault, temperature, topP, toolCalls } = content
  const secrets: string[] = []
  const baseUrl =
    content.baseUrl === undefined
      ? undefined
      : urlOf(source, ['model', 'baseUrl'], content.baseUrl, secrets)
  const headers =
    content.headers && headersOf(source, ['model', 'headers'], content.headers, secrets)
  if (source.isCode && headers !== undefined) secrets.push(...writtenSecrets({ url: '', headers }))
  return {
    provider: providerOf(source, content),
    name,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    apiKey: apiKeyOf(source, content),
    ...(secrets.length === 0 ? {} : { secrets }),
    maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...acceptedOf(source, content),
    ...(headers === undefined ? {} : { headers }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(content.limits === undefined ? {} : { limits: limitsOf(content.limits) }),
  }
}

function limitsOf(given: LimitsContent): ModelLimits {
  const { requestsAtOnce = null, requestsPerMinute = null, tokensPerMinute = null } = given
  return { requestsAtOnce, requestsPerMinute, tokensPerMinute }
}

/** The options that not every provider has, with values that its API accepts. */
function acceptedOf(
  { providers, refuse }: Source,
  { provider, reasoningEffort, serviceTier, seed, endMark }: ModelContent,
): Pick<Model, 'reasoningEffort' | 'serviceTier' | 'seed' | 'endMark'> {
  const accepts = providers.find(({ name }) => name === provider)?.accepts
  const refuseOther = (key: string, value: string | undefined, known: readonly string[] = []) => {
    if (value !== undefined && accepts !== undefined && !known.includes(value))
      refuse(['model', key], `is ${shown(value)}; must be ${alternatives(known)} for ${provider}`)
  }
  refuseOther('reasoningEffort', reasoningEffort, accepts?.reasoningEffort)
  refuseOther('serviceTier', serviceTier, accepts?.serviceTier)
  for (const [key, value] of Object.entries({ seed, endMark }))
    if (value !== undefined && accepts?.[key as 'seed' | 'endMark'] === false)
      refuse(['model', key], `is an option that ${provider} does not have; remove it`)
  return {
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(seed === undefined ? {} : { seed }),
    ...(endMark === undefined ? {} : { endMark }),
  }
}

/** A stand-in if it is missing or unknown: the schema has refused the file then. */
export function providerOf<Provider extends string>(
  { providers }: Source<Provider>,
  content: ModelContent,
): Provider {
  return (providers.find(({ name }) => name === content.provider) ?? providers[0]).name
}

/**
 * With `baseUrl` and without `apiKey` there is no key: the provider's key must not go to another
 * server by accident.
 */
function apiKeyOf(source: Source, content: ModelContent): string {
  const { provider, apiKey } = content
  const path = ['model', 'apiKey']
  if (apiKey !== undefined) return checkedKey(source, expanded(source, path, apiKey))
  const variable = source.providers.find(({ name }) => name === provider)?.keyVariable
  if ('apiKey' in content || 'baseUrl' in content || variable === undefined) return ''
  const key = variableValue(variable, source.environment) ?? ''
  if (key !== '') return checkedKey(source, key)
  const other = source.isCode ? 'give the key itself' : `name another one: apiKey: \${NAME}`
  source.refuse(
    path,
    `is missing, and the variable ${variable} is not set or empty; set it, or ${other}`,
  )
  return ''
}

/**
 * A line end at the end of a variable is a common slip. Node reports it only at the first request.
 */
function checkedKey(source: Source, key = ''): string {
  if (!/^[\u0021-\u007e]*$/.test(key))
    source.refuse(
      ['model', 'apiKey'],
      "holds a space, a line end or another character that a key cannot have; correct the variable's value",
    )
  return key
}
