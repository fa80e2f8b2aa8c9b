// `weir approvals rules`: which calls wait for a person. With a file it puts the rules of the file
// in force, without one it shows those that are.

import { readFileSync } from 'node:fs'
import { type ApprovalSettings, setApprovalRules } from '../../../services/approval/registration.ts'
import { approvalGuard } from '../../../shared/contract/approval-guard.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { modeOf, registeredGuards } from '../../../shared/runtime/guards/register.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { withRegistry } from '../../history/registry.ts'
import { printable, printableLines } from '../../terminal/printable.ts'
import { count, took } from '../../terminal/quantities.ts'

/**
 * `file`: JSON, an ApprovalSettings (services/approval/registration.ts). Throws `settings.invalid`,
 * `usage`.
 */
export async function approvalRules(
  file: string | undefined,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  if (file === undefined) return showRules(settings, out)
  const wanted = settingsIn(file)
  const { tools, deadlineMs, wasOff } = await withRegistry(settings, async (registry) => {
    await registry.bus.ends(`${registry.topicPrefix}approvals`) // or it says that there is no such topic: nobody would be asked
    const known = (await registeredGuards(registry)).find(({ name }) => name === approvalGuard)
    const wasOff = known !== undefined && modeOf(known) !== 'enforce'
    return { ...(await setApprovalRules(registry, wanted)), wasOff }
  })
  const patterns = tools.map(({ pattern }) => pattern).join(', ')
  out.write(
    `${printable(`${count(wanted.rules.length, 'rule')} for ${patterns}`)}: from the next model response on, calls wait up to ${took(deadlineMs)} for weir approve\n`,
  )
  if (wasOff)
    out.write(
      'some rules were switched off until now, and all are in force: weir guard mode approval shadow switches them off again\n',
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
  if (modeOf({ tools }) !== 'enforce')
    out.write('some of these rules are switched off: weir guard list says which\n')
  const shown = JSON.stringify({ waitMs: deadlineMs, rules: rulesOf(rules) }, null, 2)
  for (const line of printableLines(shown)) out.write(`${line}\n`)
}

/** As they ride in a round; whoever writes `policies` may have written what is none. */
function rulesOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '[]')
  } catch (error) {
    throw unreadableRules(error)
  }
}

function unreadableRules(cause: unknown): WeirError {
  const what =
    'the registration of the guard approval in policies holds rules that are no JSON, so each call of its tools is rejected'
  const remedy =
    'set them again with weir approvals rules FILE, or remove it with weir guard remove approval'
  return new WeirError('policies.unreadable', `${what}: ${remedy}`, { cause })
}

function settingsIn(file: string): ApprovalSettings {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw unreadable(file, error)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new WeirError(
      'settings.invalid',
      `${file}: it must be an object with rules, and waitMs if you like`,
    )
  return content as ApprovalSettings
}

function unreadable(file: string, cause: unknown): WeirError {
  return new WeirError(
    'usage',
    `${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
}
