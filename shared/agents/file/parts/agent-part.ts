// An agent from checked content, which is that of a file or of a program.

import { basename, extname } from 'node:path'
import { limits } from '../../../contract/limits.ts'
import { protectOwnPath } from '../../../lib/sandbox/own-paths.ts'
import { shown } from '../../../settings/mistake.ts'
import { readText } from '../../../settings/text-file.ts'
import type { Agent, Model } from '../../agents.ts'
import { defaultSettings } from '../../policy/policy.ts'
import type { AgentContent } from '../content.ts'
import { exists, needs, referred, type Source } from '../source.ts'
import { mcpOf } from './mcp-part.ts'
import { modelOf, providerOf } from './model-part.ts'
import { redactOf } from './redact-part.ts'
import { settingsOf } from './settings-part.ts'
import { toolsOf } from './tool-part.ts'

/** Always returns an agent. If there are mistakes, it is never used. */
export function agentOf<Provider extends string>(
  source: Source<Provider>,
  content: AgentContent,
): Agent<Provider> {
  const mcp = mcpOf(source, content)
  return {
    name: nameOf(source, content),
    system: needs(source, 'model') ? systemOf(source, content) : '',
    model: needs(source, 'model')
      ? modelOf(source, content.model ?? {})
      : modelElsewhere(source, content),
    tools: toolsOf(source, content.tools ?? [], content.sandbox),
    settings: settingsOf(content, defaultSettings, redactOf(source, content)),
    ...(mcp.length > 0 && { mcp }),
    ...textCallsIn(source, refuseOfGuests(source, content)),
    ...historyIn(source, content),
  }
}

function refuseOfGuests(source: Source, content: AgentContent): AgentContent {
  if (content.hints !== undefined)
    source.refuse(['hints'], 'goes with guest only; write the hints of a tool in tools')
  if (content.record !== undefined) source.refuse(['record'], 'goes with guest only; remove it')
  return content
}

function historyIn(source: Source, { history }: AgentContent): Pick<Agent, 'history'> {
  if (history === undefined) return {}
  const { keep = {}, summarise = 'drop' } = history
  if ((keep.rounds === undefined) === (keep.tokens === undefined))
    source.refuse(['history', 'keep'], 'must have one of rounds and tokens')
  return { history: { keep, summarise } }
}

/** A model without native calls calls no tool at all if its text calls do not run. */
function textCallsIn(source: Source, { textCalls, model }: AgentContent): Pick<Agent, 'textCalls'> {
  if (textCalls === undefined) return {}
  if (model?.toolCalls === 'text' && textCalls !== 'run')
    source.refuse(
      ['textCalls'],
      `is ${textCalls}; must be run with model.toolCalls: text, because that model has no other calls`,
    )
  return { textCalls }
}

/** A stand-in: other processes send the requests. */
function modelElsewhere<Provider extends string>(
  source: Source<Provider>,
  { model = {} }: AgentContent,
): Model<Provider> {
  return {
    provider: providerOf(source, model),
    name: model.name ?? '',
    apiKey: '',
    maxOutputTokens: 1,
  }
}

export function nameOf(source: Source, content: AgentContent): string {
  if ('name' in content || source.isCode === true) return content.name ?? ''
  const fileName = basename(source.file, extname(source.file))
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(fileName))
    source.refuse(
      ['name'],
      `is missing, and the file's name ${shown(fileName)} cannot stand in; must be 1 to 64 of a-z, 0-9 and -`,
    )
  return fileName
}

function systemOf(source: Source, { system, systemFile }: AgentContent): string {
  if (system !== undefined || systemFile === undefined) return system ?? ''
  const file = referred(source, ['systemFile'], systemFile)
  if (file === undefined || !exists(source, ['systemFile'], file, 'file')) return ''
  protectOwnPath(file.path)
  const content = readText(file.path, limits.agentFileBytesMax)
  const blank = 'text' in content && content.text.trim() === '' ? 'is blank' : undefined
  const fault = 'fault' in content ? content.fault : blank
  if (fault !== undefined)
    source.refuse(['systemFile'], `refers to ${shown(file.name)}, which ${fault}`)
  return 'text' in content ? content.text : ''
}
