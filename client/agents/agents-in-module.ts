// The agents that a module exports, for commands.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import type { DefinedAgent } from '../define/define-agent.ts'

/** Whether the path names a module, and no agent file. */
export function isModule(path: string): boolean {
  return /\.[cm]?[jt]s$/.test(path)
}

/**
 * Runs the module. Each export that is an agent of `defineAgent`, or a list of them, counts. Throws
 * `agent.invalid`.
 */
export async function agentsInModule(path: string): Promise<DefinedAgent<never>[]> {
  const file = resolve(path)
  if (!existsSync(file))
    throw invalid(`there is no file ${path}: give a module that exports agents`)
  const exports: Record<string, unknown> = await import(pathToFileURL(file).href).catch(
    (cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw invalid(`${path} cannot be loaded: ${reason}`, cause)
    },
  )
  const agents = new Set(Object.values(exports).flat().filter(isAgent))
  if (agents.size > 0) return [...agents]
  const names = Object.keys(exports)
  const found = names.length === 0 ? 'nothing' : names.join(', ')
  throw invalid(`${path} exports no agent: export one of defineAgent. It exports ${found}`)
}

/** Its other mistakes are those that Weir.open finds. */
function isAgent(value: unknown): value is DefinedAgent<never> {
  return isObject(value) && typeof value.name === 'string' && isObject(value.model)
}

function invalid(text: string, cause?: unknown): WeirError {
  return new WeirError('agent.invalid', text, { cause })
}
