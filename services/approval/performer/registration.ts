// Sets the rules of the approval guard: one record in `policies`, its registration as a guard,
// which carries the rules. The gateway stamps it on each round. So rules apply from the next model
// response on, and a round keeps the rules that it came with.

import { createHash } from 'node:crypto'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import { registrationFault } from '../../../shared/contract/guard/guard-registration.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import {
  type Registry,
  registeredGuards,
  writeRegistration,
} from '../../../shared/runtime/guards/guard-registry.ts'
import { keyFault } from '../../../shared/runtime/guards/key-fault.ts'
import { type ApprovalRule, compiledRules } from '../rules.ts'

export type ApprovalSettings = {
  rules: readonly ApprovalRule[]
  /** The wait for a person before the call is denied, up to a day. Default: an hour. */
  waitMs?: Milliseconds
}

const waitMsDefault: Milliseconds = 60 * 60 * 1000

/** The registration with these rules. Throws `settings.invalid` with the fault. */
export function approvalRegistration(settings: ApprovalSettings): GuardInForce {
  const unknown = keyFault(settings, ['rules', 'waitMs'])
  if (unknown !== undefined) throw invalid(`they have ${unknown}`)
  const { rules, waitMs: deadlineMs = waitMsDefault } = settings
  compiledRules(rules)
  const text = JSON.stringify(rules)
  const patterns = [...new Set(rules.flatMap(({ tools }) => tools))]
  const registration: GuardInForce = {
    name: approvalGuard,
    version: createHash('sha256').update(text).digest('hex').slice(0, 8),
    tools: patterns.map((pattern) => ({ pattern, mode: 'enforce' })),
    deadlineMs,
    onTimeout: 'deny',
    rules: text,
  }
  const fault = registrationFault(registration)
  if (fault !== undefined) throw invalid(fault)
  return registration
}

/**
 * Sets rules, but writes nothing if these are in force. So it keeps the mode that an operator has
 * set. Throws `settings.invalid`.
 */
export async function keepApprovalRules(
  registry: Registry,
  settings: ApprovalSettings,
  by: string,
): Promise<void> {
  const registration = approvalRegistration(settings)
  const known = (await registeredGuards(registry)).find(({ name }) => name === approvalGuard)
  if (known?.version !== registration.version || known.deadlineMs !== registration.deadlineMs)
    await setApprovalRules(registry, registration, by)
}

/**
 * Sets rules from the next model response on. `by`: the author's name. Throws `settings.invalid` for one
 * guard too many: with it, no model request would work.
 */
export async function setApprovalRules(
  registry: Registry,
  registration: GuardInForce,
  by: string,
): Promise<void> {
  const others = (await registeredGuards(registry)).filter(({ name }) => name !== approvalGuard)
  if (others.length >= limits.guardsMax)
    throw invalid(
      `${others.length} guards are registered, the maximum. Remove one with weir guard remove`,
    )
  await writeRegistration(registry, registration, by)
}

function invalid(why: string): WeirError {
  return new WeirError('settings.invalid', `the rules of the approval guard cannot be used: ${why}`)
}
