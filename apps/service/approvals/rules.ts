// `weir approvals rules`: the calls that wait for a person. With a file, it sets the rules of the
// file; without one, it shows the rules in force.

import {
  type ApprovalSettings,
  approvalRegistration,
  setApprovalRules,
} from '../../../services/approval/performer/registration.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { modeOf, registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'
import { jsonOf, readJson } from '../../../shared/settings/json-file.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { printableLines } from '../../terminal/text/printable.ts'
import { count, elapsed } from '../../terminal/text/quantities.ts'
import type { SettingChange } from '../setting-command.ts'

const rulesBytesMax = 1024 * 1024

/** `count`: of the rules. */
type CheckedRules = { registration: GuardInForce; count: number }
type RulesInForce = GuardInForce & { count: number; wasOff: boolean }

/**
 * `file`: JSON, an ApprovalSettings (services/approval/performer/registration.ts). Or the `text` of one.
 * Throws `settings.invalid`, `usage`.
 */
export const rulesChange: SettingChange<
  { file: string } | { text: string },
  CheckedRules,
  RulesInForce
> = {
  createsLog: true,
  read(given) {
    const settings = 'file' in given ? settingsIn(given.file) : textIn(given.text)
    return { registration: approvalRegistration(settings), count: settings.rules.length }
  },
  async write(table, { registration, count }, { by }) {
    await table.bus.ends(`${table.topicPrefix}approvals`) // throws if the topic is missing: no question would reach a person
    const known = (await registeredGuards(table)).find(({ name }) => name === approvalGuard)
    const wasOff = known !== undefined && modeOf(known) !== 'enforce'
    await setApprovalRules(table, registration, by)
    return { ...registration, count, wasOff }
  },
  lines({ count: rules, tools, deadlineMs, wasOff }) {
    const patterns = tools.map(({ pattern }) => pattern).join(', ')
    return [
      `${count(rules, 'rule')} for ${patterns}: from the next model response, calls wait up to ${elapsed(deadlineMs)} for weir allow`,
      ...(wasOff
        ? [
            'some rules were switched off until now; all are in force now. To switch them off: weir guard mode approval shadow',
          ]
        : []),
    ]
  },
}

export async function showRules(settings: Settings, out: NodeJS.WriteStream): Promise<void> {
  const guards = await withLog(settings, (log) => registeredGuards(log))
  const guard = guards.find(({ name }) => name === approvalGuard)
  if (guard === undefined) {
    out.write('no call waits for a person: there are no rules\n')
    return
  }
  const { rules, deadlineMs, tools } = guard
  if (modeOf({ tools }) !== 'enforce')
    out.write('some of these rules are switched off: weir guard list names them\n')
  const shown = JSON.stringify({ waitMs: deadlineMs, rules: rulesOf(rules) }, null, 2)
  for (const line of printableLines(shown)) out.write(`${line}\n`)
}

/** The rules as they travel in a round. Another program may have written bad JSON. */
function rulesOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '[]')
  } catch (error) {
    throw unreadableRules(error)
  }
}

function unreadableRules(cause: unknown): WeirError {
  const fault =
    'the registration of the guard approval in policies has rules that are no JSON, so each call of its tools is denied'
  const remedy =
    'set them again with weir approvals rules FILE, or remove it with weir guard remove approval'
  return new WeirError('policies.unreadable', `${fault}: ${remedy}`, { cause })
}

function settingsIn(file: string): ApprovalSettings {
  const subject = `the file of rules ${file}`
  return settingsOf(subject, readJson(file, rulesBytesMax, subject))
}

function textIn(text: string): ApprovalSettings {
  return settingsOf('the text', jsonOf('the text', text))
}

/** `subject`: of the error's sentence. Throws `settings.invalid`. */
function settingsOf(subject: string, content: unknown): ApprovalSettings {
  if (isObject(content)) return content as ApprovalSettings
  throw new WeirError(
    'settings.invalid',
    `${subject} must be an object with rules and, optionally, waitMs`,
  )
}
