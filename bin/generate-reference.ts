// Generator: writes the tables of docs/reference from their sources in the code.
//
//   node bin/generate-reference.ts             writes all pages
//   node bin/generate-reference.ts --check     writes nothing; exit code 1 names each page that differs
//
// Owns: the first table below each heading that a page names here. Does not own: the sentences
// around the tables.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type GeneratedFile, root, writeOrCheck } from './generated-file.ts'
import { agentFileTables } from './reference/agent-file.ts'
import { commandTables, exitCodeTables } from './reference/commands.ts'
import { eventTables } from './reference/events.ts'
import { limitTables } from './reference/limits.ts'
import { settingTables } from './reference/settings.ts'
import { type Tables, withTables } from './reference/table.ts'

const pages: Record<string, () => Tables | Promise<Tables>> = {
  'agent-file': agentFileTables,
  commands: commandTables,
  events: eventTables,
  'exit-codes': exitCodeTables,
  limits: limitTables,
  settings: settingTables,
}

export async function referenceFiles(): Promise<GeneratedFile[]> {
  return Promise.all(
    Object.entries(pages).map(async ([name, tablesOf]) => {
      const path = `docs/reference/${name}.md`
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, generated: withTables(text, await tablesOf()) }
    }),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeOrCheck(await referenceFiles())
