// Checks the registration of a guard, at the registering side and in the gateway: any program can
// write a record into the table.

import { limits } from '../limits.ts'
import type { GuardInForce } from '../messages.ts'
import { approvalGuard } from './approval-guard.ts'

const nameShape = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Whether a guard can have this name, which is part of the name of its topic. */
export function isGuardName(name: string): boolean {
  return nameShape.test(name)
}

/** The first fault, with the value. Undefined: the registration is usable. */
export function registrationFault(registration: GuardInForce): string | undefined {
  return registrationFaults(registration)[0]
}

/** All faults, each with the value. */
export function registrationFaults(registration: GuardInForce): string[] {
  return [...faultsOf(registration)]
}

function* faultsOf({ name, version, tools, deadlineMs, rules }: GuardInForce): Generator<string> {
  if (!isGuardName(name))
    yield `its name is ${quoted(name)}; it must be 1 to 63 of a-z, 0-9 and -, and not begin with -`
  if (version.length < 1 || version.length > limits.guardVersionCharsMax || /\p{C}/u.test(version))
    yield `its version is ${quoted(version)}; it must be 1 to ${limits.guardVersionCharsMax} printable characters`
  if (tools.length < 1 || tools.length > limits.guardPatternsMax)
    yield `it names ${tools.length} patterns of tools; it must name 1 to ${limits.guardPatternsMax}`
  const pattern = tools.find(
    ({ pattern }) => pattern === '' || Buffer.byteLength(pattern) > limits.guardPatternBytesMax,
  )?.pattern
  if (pattern !== undefined)
    yield `a pattern of tools is ${quoted(pattern)}; it must have 1 to ${limits.guardPatternBytesMax} bytes`
  if (!Number.isInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > limits.guardDeadlineMsMax)
    yield `its deadline is ${deadlineMs} ms; it must be a whole number from 1 to ${limits.guardDeadlineMsMax}`
  if ((rules === null) === (name === approvalGuard))
    yield `the name ${approvalGuard} and rules are reserved for Weir's own guard; set its rules with weir approvals rules`
  if (rules !== null && Buffer.byteLength(rules) > limits.approvalRulesBytesMax)
    yield `its rules have ${Buffer.byteLength(rules)} bytes; at most ${limits.approvalRulesBytesMax} are allowed, because each round carries them`
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
