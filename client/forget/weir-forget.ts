// weir.forget: checks the options of a program, and deletes.

import { personHere } from '../../services/approval/performer/person.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { parseConversationId } from '../../shared/contract/ids.ts'
import { keptBy } from '../../shared/contract/retention.ts'
import { defaultTenant, isTenant, tenantRule } from '../../shared/contract/tenant.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { needOptions } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import { searchFileOf } from '../search/index-file.ts'
import { parseUser } from '../turn/question.ts'
import {
  type ForgetOptions,
  type ForgetSelection,
  type Forgotten,
  forgetConversations,
} from './forget.ts'
import { guardTopicsOf } from './unreadable.ts'

const asked = { code: 'usage', subject: 'weir.forget' } as const
const names = ['conversation', 'user', 'tenant', 'by', 'identity', 'dryRun']

type Log = Parameters<typeof forgetConversations>[0]
type OpenedLog = Pick<Log, 'bus' | 'topicPrefix' | 'partitions'>

/** Throws as forgetConversations, `usage`, and `message.invalid` for a bad id. */
export async function forgetIn(
  log: OpenedLog,
  settings: Settings,
  given: ForgetOptions,
): Promise<Forgotten> {
  const place = forgetPlace(log, settings)
  return forgetConversations(place, { by: personHere(), ...checkedForget(given) })
}

export function forgetPlace({ bus, topicPrefix, partitions }: OpenedLog, settings: Settings): Log {
  const { isLocal } = busKindOf(settings)
  const searchFile = searchFileOf(settings)
  const listGuardTopics = guardTopicsOf(settings)
  const log = { bus, topicPrefix, partitions, isLocal, listGuardTopics }
  return { ...log, ...keptBy(settings), searchFile }
}

function checkedForget(given: ForgetOptions): ForgetOptions {
  needOptions(given, { ...asked, example: "{ conversation: 'c1' }" })
  refuseUnknownKeys(given, names, asked)
  const { by, identity, dryRun } = given
  const author = { ...(by !== undefined && { by }), ...(identity !== undefined && { identity }) }
  return { ...selectionOf(given as Names), ...author, dryRun: dryRun === true }
}

type Names = { conversation?: string; user?: string; tenant?: string }

/** Throws `usage`, and `message.invalid` for a bad id. */
export function selectionOf({ conversation, user, tenant }: Names): ForgetSelection {
  const others = [user, tenant].filter((one) => one !== undefined)
  if ((conversation === undefined) === (others.length === 0))
    throw usageError('name either a conversation, or a user or a tenant')
  if (conversation !== undefined) return { conversation: parseConversationId(conversation) }
  if (tenant !== undefined && !(typeof tenant === 'string' && isTenant(tenant)))
    throw usageError(`the tenant is ${shown(tenant)}: ${tenantRule}`)
  const ofTenant = tenant === undefined ? {} : { tenant }
  return user === undefined
    ? { tenant: tenant ?? defaultTenant }
    : { user: parseUser(user), ...ofTenant }
}
