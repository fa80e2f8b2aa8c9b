// The service after a failure, which several tools may share. The error names a host, an address or
// a path, or the tools' names begin with the service: `crm_search`, `mcp__crm__search`, `crm.search`.
//
// A verb at the beginning of a name is no service: `get_user` and `get_map` share
// nothing.
// By the names of tools, only refused credentials and a service that is down count.
// Any other missing right may be that of one object.

import { isVerb, wordsOf } from './effect.ts'
import { type FailureKind, refusesCredentials } from './failure-kind.ts'

/** `error`: masked. Undefined: the failure may be that of one tool. Empty: the error names it. */
export function serviceIn(tool: string, kind: FailureKind, error: string): string | undefined {
  if (kind !== 'transient' && kind !== 'denied') return undefined
  if (serviceName.test(error)) return ''
  if (kind === 'denied' && !refusesCredentials(error)) return undefined
  return serviceOf(tool) || undefined
}

const serviceName = /[a-z\d][\w-]*\.[a-z\d][\w.-]*|:\d{2,5}\b|\bport \d|\blocalhost\b|\w\/\w/i

/** The service that a name of several words begins with. Empty: none. */
export function serviceOf(tool: string): string {
  const [first = '', ...others] = wordsOf(tool).filter((word) => !carriers.has(word))
  return others.length === 0 || first.length < serviceCharsMin || isVerb(first) ? '' : first
}

/** Words before the name of a service. */
const carriers: ReadonlySet<string> = new Set(' mcp api tool tools functions default'.split(' '))
const serviceCharsMin = 2
