// `weir api-keys create`, `list`, `rotate` and `remove`.
// A change is written to the file of keys, then its evidence to `audit` of the log.
// The evidence has neither a key nor a hash. Without a log the change counts, with a warning.

import { personHere } from '../../../../services/approval/performer/person.ts'
import { isNamedTenant, namedTenantRule } from '../../../../shared/contract/tenant.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { durationOf } from '../../../../shared/lib/duration.ts'
import { usageError, WeirError } from '../../../../shared/lib/errors.ts'
import { appendTexts, withoutEvidence } from '../../../../shared/runtime/settings/audited-change.ts'
import type { Settings } from '../../../../shared/settings/settings.ts'
import { apiKeySetting } from '../../../../shared/view/audit/entries.ts'
import { instantOf } from '../../../../shared/view/filter/instant.ts'
import { withExistingRegistry } from '../../../history/registry.ts'
import { processStreams, type Streams } from '../../../terminal/streams.ts'
import { printable, printableJson } from '../../../terminal/text/printable.ts'
import { instant } from '../../../terminal/text/quantities.ts'
import {
  type ApiKeyEntry,
  addSubject,
  createApiKey,
  entryNamed,
  idOf,
  isCertificateSubject,
  isKeyName,
  readApiKeys,
  removeApiKey,
  rotateApiKey,
} from './api-keys.ts'
import { lastUses } from './key-use.ts'
import { type Role, roles } from './principal.ts'

/** How long a replaced key may count. */
const edgeKeyOverlapMsMax = 365 * 24 * 60 * 60_000

type KeyFile = { file: string }
type Author = { by?: string }

export type CreateKeyOptions = KeyFile &
  Author & {
    tenant?: string
    allTenants?: boolean
    role: string[]
    subject?: string
    expires?: string
    cancelOnDisconnect?: boolean
  }

type Output = Omit<Streams, 'input'>

/** Prints the key alone on a line; with `subject` there is none. Throws `usage`, `settings.invalid`. */
export async function createKey(
  name: string,
  options: CreateKeyOptions,
  settings: Settings,
  streams: Output = processStreams(),
): Promise<void> {
  const { file, tenant, allTenants = false, role, subject, cancelOnDisconnect = false } = options
  if (!isKeyName(name))
    throw usageError(
      `the name is '${printable(name)}': give 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-' and '@'`,
    )
  if (allTenants === (tenant !== undefined))
    throw usageError('give either --tenant NAME or --all-tenants')
  if (tenant !== undefined && !isNamedTenant(tenant))
    throw usageError(`the tenant is '${printable(tenant)}': ${namedTenantRule}`)
  const created = Date.now()
  const expires = options.expires === undefined ? undefined : endOf(options.expires, created)
  const owner = {
    name,
    tenant: tenant ?? null,
    roles: role.map(roleOf),
    created,
    ...(expires !== undefined && { expires }),
    ...(cancelOnDisconnect && { cancelsOnDisconnect: true }),
  }
  if (subject === undefined) streams.out.write(`${createApiKey(file, owner)}\n`)
  else if (isCertificateSubject(subject)) addSubject(file, { ...owner, subject })
  else
    throw usageError(
      `the subject is '${printable(subject)}': give it as in the certificate, for example O=Acme,CN=ci`,
    )
  const after = entryNamed(name, readApiKeys(file), file)
  await recordChange({ after, options, settings: async () => settings }, streams)
}

/** Also under settings that cannot be read: a leaked key must go. Throws `usage` for an unknown name. */
export async function removeKey(
  name: string,
  options: KeyFile & Author,
  settings: () => Promise<Settings>,
  streams: Output = processStreams(),
): Promise<void> {
  const before = removeApiKey(options.file, name)
  await recordChange({ before, options, settings }, streams)
}

export type RotateKeyOptions = KeyFile & Author & { overlap: string; expires?: string }

/** Prints the new key alone on a line. Throws `usage` for an unknown name, and as rotateApiKey. */
export async function rotateKey(
  name: string,
  options: RotateKeyOptions,
  settings: Settings,
  streams: Output = processStreams(),
): Promise<void> {
  const { file, overlap } = options
  const overlapMs = durationOf(overlap)
  if (overlapMs === undefined)
    throw usageError(
      `--overlap is '${printable(overlap)}': give a duration such as 24h, or 0s (ms, s, m, h, d)`,
    )
  if (overlapMs > edgeKeyOverlapMsMax)
    throw usageError(
      `--overlap is '${printable(overlap)}': the former key may count for 365d at most`,
    )
  const now = Date.now()
  const former = entryNamed(name, readApiKeys(file), file)
  if (former.expires !== undefined && options.expires === undefined)
    throw usageError(
      `${name} expires ${instant(former.expires)}: give the end of the new key with --expires 90d, or --expires never`,
    )
  const expires = options.expires === undefined ? undefined : endOf(options.expires, now)
  const { key, before, after } = rotateApiKey(file, name, { now, overlapMs, expires })
  streams.out.write(`${key}\n`)
  await recordChange({ before, after, options, settings: async () => settings }, streams)
}

/** With `json`, one object per line. Times are in milliseconds since 1970-01-01 UTC. Null: never, or unknown. */
export function listKeys(
  { file, json = false }: KeyFile & { json?: boolean },
  out: NodeJS.WritableStream,
): void {
  const uses = lastUses(file)
  const keys = readApiKeys(file).map((entry) => shownKey(entry, uses))
  if (keys.length === 0 && !json) out.write(`${printable(file)} has no key\n`)
  for (const key of keys) out.write(`${json ? printableJson(key) : printable(lineOf(key))}\n`)
}

type ShownKey = ReturnType<typeof shownKey>

function shownKey(entry: ApiKeyEntry, uses: ReadonlyMap<string, Milliseconds>) {
  const { name, tenant, roles: own, created = null, expires = null } = entry
  const old = 'old' in entry ? entry.old : undefined
  return {
    name,
    tenant,
    roles: own,
    subject: 'subject' in entry ? entry.subject : null,
    created,
    lastUsed: uses.get(idOf(entry)) ?? null,
    expires,
    old:
      old === undefined ? null : { expires: old.expires, lastUsed: uses.get(old.sha256) ?? null },
  }
}

function lineOf({ name, tenant, roles: own, subject, created, lastUsed, expires, old }: ShownKey) {
  const now = Date.now()
  const isOver = expires !== null && expires <= now
  const former = old !== null && old.expires > now ? old : null
  return [
    name,
    tenant ?? 'all tenants',
    own.join(', '),
    ...(subject === null ? [] : [subject]),
    `created ${created === null ? 'unknown' : instant(created)}`,
    `last used ${lastUsed === null ? 'never' : instant(lastUsed)}`,
    expires === null ? 'never expires' : `${isOver ? 'expired' : 'expires'} ${instant(expires)}`,
    ...(former === null
      ? []
      : [
          `the key before counts until ${instant(former.expires)}, last used ${former.lastUsed === null ? 'never' : instant(former.lastUsed)}`,
        ]),
  ].join('  ')
}

type KeyChange = {
  before?: ApiKeyEntry
  after?: ApiKeyEntry
  options: Author
  settings: () => Promise<Settings>
}

async function recordChange(
  { before, after, options: { by = personHere() }, settings }: KeyChange,
  { errors }: Pick<Output, 'errors'>,
): Promise<void> {
  const entry = after ?? before
  if (entry === undefined) return
  const setting = apiKeySetting(entry)
  const texts = { setting, by, before: textOf(before), after: textOf(after) }
  try {
    await withExistingRegistry(await settings(), (table) => appendTexts(table, texts, []))
  } catch (error) {
    if (!(error instanceof WeirError)) throw error
    errors.write(`weir: warning: ${withoutEvidence(setting, printable(error.message))}\n`)
  }
}

function textOf(entry: ApiKeyEntry | undefined): string {
  if (entry === undefined) return ''
  const { lastUsed: _, ...shown } = shownKey(entry, new Map())
  return JSON.stringify({ ...shown, old: shown.old && { expires: shown.old.expires } })
}

/** Undefined: `never`. Throws `usage`. */
function endOf(text: string, now: Milliseconds): Milliseconds | undefined {
  if (text === 'never') return undefined
  const duration = durationOf(text)
  const end = duration === undefined ? instantOf(text, now) : now + duration
  if (end !== undefined && end > now && end < lastTime) return end
  throw usageError(
    `--expires is '${printable(text)}': give a duration such as 90d, a later time such as 2027-01-31, or never`,
  )
}

/** The last time that a Date can have. */
const lastTime = 8.64e15

function roleOf(given: string): Role {
  const role = roles.find((one) => one === given)
  if (role !== undefined) return role
  throw usageError(`unknown role '${printable(given)}': give ${roles.join(', ')}`)
}
