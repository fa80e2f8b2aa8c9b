// A folder of agent files for tests, and the errors from loading them.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { providers } from '../../../../services/llm-gateway/performer/providers/providers.ts'
import type { Agent } from '../../../../shared/agents/agents.ts'
import { loadAgentFile, loadAgents } from '../../../../shared/agents/file/load-agents.ts'
import { compiledSchema } from '../../../../shared/contract/arguments/compiled-schema.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'

export type Folder = { path: string; remove(): void }

/** `files`: by name, which may contain folders. A file that begins with #! becomes a program. */
export function agentFolder(files: Record<string, string | Uint8Array>): Folder {
  const path = mkdtempSync(join(tmpdir(), 'weir-agents-'))
  for (const [name, content] of Object.entries(files)) {
    const file = join(path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    if (typeof content === 'string' && content.startsWith('#!')) chmodSync(file, 0o755)
  }
  return { path, remove: () => rmSync(path, { recursive: true }) }
}

/** Compiles as the validator does, because its verdict counts. */
export function checkSchema(schema: string): string | undefined {
  const compiled = compiledSchema(schema)
  return compiled.kind === 'unusable' ? compiled.reason : undefined
}

export const key = 'sk-secret-0123456789'
export const environment = {
  ANTHROPIC_API_KEY: key,
  TOKEN: 'token-0123456789',
  PATH: dirname(process.execPath),
}

type Given = {
  files: Record<string, string | Uint8Array>
  environment?: NodeJS.ProcessEnv
  load?: string
}

/**
 * The lines of the error, without its title and without the folder's path. `load`: the file or
 * folder to load. Default: the whole folder.
 */
export function mistakesIn({
  files,
  environment: given = environment,
  load = '',
}: Given): string[] {
  const folder = agentFolder(files)
  try {
    loadAgents(join(folder.path, load), given, { checkSchema }, { providers })
    return []
  } catch (error) {
    if (!(error instanceof WeirError) || error.code !== 'agent.invalid') throw error
    const [, ...lines] = error.message.split('\n')
    return lines.map((line) =>
      line.trim().replaceAll(`${folder.path}/`, '').replaceAll(folder.path, '.'),
    )
  } finally {
    folder.remove()
  }
}

/** The agent of `a.yaml`, and its folder's path. */
export function loaded(
  files: Record<string, string>,
  given: NodeJS.ProcessEnv = environment,
  file = 'a.yaml',
): { agent: Agent; path: string } {
  const folder = agentFolder(files)
  try {
    return {
      agent: loadAgentFile(join(folder.path, file), given, { checkSchema }, { providers }),
      path: folder.path,
    }
  } finally {
    folder.remove()
  }
}
