// `weir approvals rules`: which calls wait for a person. With a file it puts the rules of the file in force, without one it shows those that are.

import { readFileSync } from 'node:fs'
import { WeirError } from '../../../shared/errors.ts'
import { approvalGuard } from '../../../shared/guards/approval-guard.ts'
import { modeOf, registeredGuards } from '../../../shared/guards/register.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { ApprovalSettings } from '../../approval/registration.ts'
import { setApprovalRules } from '../../approval/registration.ts'
import { withRegistry } from '../guard/registry.ts'
import { withLog } from '../open-log.ts'
import { printable, printableLines } from '../terminal/printable.ts'
import { count, took } from '../terminal/quantities.ts'

/** `file`: JSON, an ApprovalSettings (services/approval/registration.ts). Throws `settings.invalid`, `usage`. */
export async function approvalRules(file: string | undefined, settings: Settings, out: NodeJS.WriteStream): Promise<void> {
  if (file === undefined) return showRules(settings, out)
  const wanted = settingsIn(file)
  const { tools, deadlineMs } = await withRegistry(settings, async (registry) => {
    await registry.bus.ends(`${registry.topicPrefix}approvals`) // or it says that there is no such topic: nobody would be asked
    return setApprovalRules(registry, wanted)
  })
  const patterns = tools.map(({ pattern }) => pattern).join(', ')
  out.write(
    `${printable(`${count(wanted.rules.length, 'rule')} for ${patterns}`)}: from the next model response on, calls wait up to ${took(deadlineMs)} for weir approve\n`,
  )
}

async function showRules(settings: Settings, out: NodeJS.WriteStream): Promise<void> {
  const guards = await withLog(settings, (log) => registeredGuards(log))
  const guard = guards.find(({ name }) => name === approvalGuard)
  if (guard === undefined) {
    out.write('no call waits for a person: there are no rules\n')
    return
  }
  const { rules, deadlineMs, tools } = guard
  if (modeOf({ tools }) !== 'enforce') out.write('some of these rules are switched off: weir guard list says which\n')
  const shown = JSON.stringify({ waitMs: deadlineMs, rules: JSON.parse(rules ?? '[]') }, null, 2)
  for (const line of printableLines(shown)) out.write(`${line}\n`)
}

function settingsIn(file: string): ApprovalSettings {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw unreadable(file, error)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new WeirError('settings.invalid', `${file}: it must be an object with rules, and waitMs if you like`)
  return content as ApprovalSettings
}

function unreadable(file: string, cause: unknown): WeirError {
  return new WeirError('usage', `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}
