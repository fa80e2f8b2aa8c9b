// The model of an agent file: which one, where, and with which key.

import type { Model } from '../agents.ts'
import type { ModelContent } from './content.ts'
import { expanded, type Source } from './source.ts'
import { urlOf } from './url.ts'
import { variableValue } from './variables.ts'

export function modelOf(source: Source, content: ModelContent): Model {
  const { provider = '', name = '', maxOutputTokens = 1, temperature, toolCalls } = content
  const baseUrl =
    content.baseUrl === undefined ? undefined : urlOf(source, ['model', 'baseUrl'], content.baseUrl)
  return {
    provider,
    name,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    apiKey: apiKeyOf(source, content),
    maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
  }
}

/**
 * With another server and no key named there is none: the provider's key must not go to a server
 * for which nobody meant it.
 */
function apiKeyOf(source: Source, content: ModelContent): string {
  const { provider, apiKey } = content
  const path = ['model', 'apiKey']
  if (apiKey !== undefined) return checkedKey(source, expanded(source, path, apiKey))
  const variable = source.providers.find(({ name }) => name === provider)?.keyVariable
  if ('apiKey' in content || 'baseUrl' in content || variable === undefined) return ''
  const key = variableValue(variable, source.environment) ?? ''
  if (key !== '') return checkedKey(source, key)
  source.complain(
    path,
    `is missing, and the variable ${variable} is not set or empty; set it, or name another one: apiKey: \${NAME}`,
  )
  return ''
}

/**
 * A line end at the end of a variable is a common slip, and Node's complaint about it comes with
 * the first request.
 */
function checkedKey(source: Source, key = ''): string {
  if (!/^[\u0021-\u007e]*$/.test(key))
    source.complain(
      ['model', 'apiKey'],
      "holds a space, a line end or another character that no key has; correct the variable's value",
    )
  return key
}
