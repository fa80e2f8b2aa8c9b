// The hosts whose hooks Weir serves. One line for each.

import { usageError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { geminiCli } from './gemini-cli.ts'
import type { Host } from './host.ts'

export const hosts: readonly Host[] = [claudeCode, codex, geminiCli, copilot]

/** Throws `usage`. */
export function hostNamed(name: string): Host {
  const host = hosts.find((one) => one.name === name)
  if (host !== undefined) return host
  const names = hosts.map((one) => one.name)
  const near = nearestName(name, names)
  const hint = near === undefined ? `Hosts: ${names.join(', ')}` : `Did you mean ${near}?`
  throw usageError(`unknown host ${JSON.stringify(name.slice(0, 80))}. ${hint}`)
}
