// `weir stop`: writes one record to `policies`.
// Here: `weir stop`, `weir stops` and `weir release`. Not here: the effect of a stop
// (services/executor/stops.ts, shared/runtime/settings/stops.ts).

import { conversationIdFault } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { OperatorStop } from '../../../shared/contract/messages.ts'
import { isTenant, tenantRule } from '../../../shared/contract/tenant.ts'
import { stopId } from '../../../shared/contract/topology.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import {
  placeSetting,
  type StoredSetting,
  storedSettings,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { removalCommand } from '../../../shared/settings/setting-words.ts'
import { rootInLog } from '../../history/agents-in-log.ts'
import { printable } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { stopSetting } from '../operator-settings.ts'
import { type SettingChange, warning } from '../setting-command.ts'
import { unseenScope } from '../unseen.ts'

export type StopOptions = ScopeFlags & {
  reason: string
  drain?: boolean
  now?: boolean
}

type NewStop = Omit<OperatorStop, 'type' | 'setBy' | 'setAt'>
/** `isTree`: the name is that of any conversation in the tree, and the stop gets that of the root. */
type GivenStop = NewStop & { isTree: boolean }

/**
 * A stop at `drain` can be followed by one at `now`. Throws `usage`, and `stop.taken` if the scope
 * is stopped already. Warns about a name that the log does not know.
 */
export const stopChange: SettingChange<StopOptions, GivenStop, NewStop> = {
  read({ reason, drain = false, now = false, ...flags }) {
    const scope = scopeOf(flags)
    if (drain && now)
      throw usageError('--drain and --now are given; give one of them, or none for --drain')
    checkReason(reason)
    return { ...scope, mode: now ? 'now' : 'drain', reason }
  },
  async write(table, { isTree, ...given }, { by }) {
    const stop = isTree ? { ...given, name: await rootInLog(given.name, table) } : given
    const id = stopId(stop)
    const known = (await storedSettings(stopSetting, table)).find((other) => other.id === id)
    if (known !== undefined && !(stop.mode === 'now' && known.value?.mode === 'drain'))
      throw takenBy(known)
    const setAt = table.bus.clock.now()
    await placeSetting(stopSetting, table, { type: 'operator-stop', ...stop, setBy: by, setAt })
    return stop
  },
  notes: async (stop, { table }) => [warning(await unseenScope(stop, table))],
  lines(stop) {
    const id = stopId(stop)
    return [`${id} is stopped: ${effectOf(stop)}`, `to release it: ${removalCommand('stop', id)}`]
  },
}

function checkReason(reason: string): void {
  const bytes = Buffer.byteLength(reason)
  if (reason.trim() === '') throw usageError('--reason is blank; say why')
  if (bytes > limits.reasonBytesMax)
    throw usageError(`--reason has ${bytes} bytes; at most ${limits.reasonBytesMax} are taken`)
}

function takenBy({ id, value: stop }: StoredSetting<'operator-stop'>): WeirError {
  const since = stop && ` since ${instant(stop.setAt)} by ${stop.setBy} (${stop.reason})`
  const what = stop?.mode === 'drain' ? 'stop it at once with --now, or release it' : 'release it'
  return new WeirError(
    'stop.taken',
    printable(`${id} is stopped already${since ?? ''}; ${what}: ${removalCommand('stop', id)}`),
  )
}

function effectOf({ scope, mode }: NewStop): string {
  const start = scope === 'tool' ? 'no such call starts' : 'no model request and no call starts'
  return `within a second ${start}; running ones ${mode === 'now' ? 'are stopped' : 'end normally'}`
}

type ScopeFlags = {
  all?: true
  tenant?: string
  agent?: string
  tool?: string
  conversation?: string
  tree?: string
}

type Scope = Pick<GivenStop, 'scope' | 'name' | 'isTree'>

const scopes = ['all', 'tenant', 'agent', 'tool', 'conversation'] as const

/** Throws `usage`. */
function scopeOf({ all, tree, ...named }: ScopeFlags): Scope {
  const names = { ...named, ...(all === true && { all: '' }) }
  const given: Scope[] = scopes.flatMap((scope) => {
    const name = names[scope]
    return name === undefined ? [] : [{ scope, name, isTree: false }]
  })
  if (tree !== undefined) given.push({ scope: 'conversation', name: tree, isTree: true })
  const [scope, ...more] = given
  if (scope === undefined || more.length > 0)
    throw usageError(
      `${given.length} scopes are given; give exactly one of --all, --tenant, --agent, --tool, --conversation and --tree`,
    )
  const fault = isFlag(scope.name)
    ? 'is the next flag, so the name is missing: an empty variable of a shell leaves it out'
    : nameFault(scope)
  if (fault !== undefined)
    throw usageError(`--${scope.isTree ? 'tree' : scope.scope} '${printable(scope.name)}' ${fault}`)
  return scope
}

/** A parser of flags takes the word after `--tree` for its value, also `--now`. */
function isFlag(name: string): boolean {
  return name === '--now' || name === '--drain'
}

function nameFault({ scope, name }: Scope): string | undefined {
  switch (scope) {
    case 'all':
      return undefined
    case 'tenant':
      return isTenant(name) ? undefined : `is no tenant: ${tenantRule}`
    case 'agent':
      return sizeFault(name, limits.agentNameBytesMax)
    case 'tool':
      return /\s/.test(name)
        ? 'matches no tool, because names have no blanks'
        : sizeFault(name, limits.guardPatternBytesMax)
    case 'conversation':
      return conversationIdFault(name)
  }
}

function sizeFault(name: string, max: number): string | undefined {
  const bytes = Buffer.byteLength(name)
  return bytes > 0 && bytes <= max ? undefined : `has ${bytes} bytes; it must have 1 to ${max}`
}
