// A process with stages joins the fleet of its log. It refuses to run next to a version too far away, and
// keeps the newest format that every live process reads in force.
// A data folder has one writer, which stores its schemas, so an older build stops before a record that it
// cannot read.
// A process that may not read the groups or write `policies` changes no format: an operator
// sets it with `weir fleet`.
// A look at the members costs a dozen requests. While its newest format is in force, a process looks once
// in `limits.fleetSettledMs`: an older one that joins lowers the format itself.

import type { Logger } from 'pino'
import type { FleetMember } from '../../shared/bus/fleet/fleet-members.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { onceAnswered } from '../../shared/bus/once-answered.ts'
import { ownFormat } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { pause } from '../../shared/lib/pause.ts'
import {
  assertNeighbours,
  createFormatChoice,
  fleetGroups,
} from '../../shared/runtime/fleet/fleet-rules.ts'
import {
  changeFleetFormat,
  formatInForce,
  storedFleet,
  storeFormats,
} from '../../shared/runtime/fleet/stored-formats.ts'
import { registeredGuardNames } from '../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { patientBus } from './open-bus.ts'

type Options = { bus: Bus; settings: Settings; log: Logger }

/** The live members. Empty on a local bus, which only one process writes. Throws `bus.unauthorized`. */
export function fleetMembers(options: Options): Promise<FleetMember[]> {
  return membersOf(options, (ask) => ask())
}

/** As fleetMembers, for a process that starts: it waits for a broker without a bound. */
export function fleetMembersAtStart(options: Options): Promise<FleetMember[]> {
  const { bus, log } = options
  return membersOf({ ...options, bus: patientBus(bus, log) }, (ask) => onceAnswered(bus, ask, log))
}

async function membersOf(
  { bus, settings, log }: Options,
  request: (ask: () => Promise<FleetMember[]>) => Promise<FleetMember[]>,
): Promise<FleetMember[]> {
  const kind = busKindOf(settings)
  if (kind.isLocal) return []
  const { topicPrefix } = settings
  const guards = await registeredGuardNames({ bus, topicPrefix })
  return request(async () => {
    const groups = await kind.groups(settings, log)
    return groups.announced(fleetGroups(topicPrefix, guards))
  })
}

/** Throws `fleet.apart`. `close` ends the watch of the members. */
export async function joinFleet(options: Options): Promise<{ close(): void }> {
  const { settings, log } = options
  const bus = patientBus(options.bus, log)
  const fleet = { bus, topicPrefix: settings.topicPrefix }
  if (busKindOf(settings).isLocal) {
    await storeFormats(fleet)
    return { close() {} }
  }
  const { inForce, formats } = await storedFleet(fleet)
  const { format, isPinned } = inForce
  assertNeighbours({
    own: ownFormat,
    inForce: format,
    members: (await ifAllowed(() => fleetMembersAtStart(options), log)) ?? [],
    weirOf: (number) => formats.find((stored) => stored.format === number)?.weir,
  })
  if (format > ownFormat && isPinned)
    log.warn(
      { format },
      `record format ${format} is pinned (weir fleet), and this process writes ${ownFormat}`,
    )
  await ifAllowed(() => storeFormats(fleet, formats), log)
  if (format > ownFormat && !isPinned)
    await ifAllowed(() => changeFormat({ ...options, bus }, { from: format, to: ownFormat }), log)
  const closed = new AbortController()
  void watch(options, closed.signal)
  return { close: () => closed.abort() }
}

async function watch(options: Options, signal: AbortSignal): Promise<void> {
  const { bus, log } = options
  const { topicPrefix } = options.settings
  const choice = createFormatChoice(ownFormat)
  let lookedAt = bus.clock.monotonic()
  for (;;) {
    await pause(bus.clock, limits.fleetMembersLookMs, signal)
    if (signal.aborted) return
    try {
      const { format: inForce, isPinned } = await formatInForce({ bus, topicPrefix })
      const isRested = bus.clock.monotonic() - lookedAt >= limits.fleetSettledMs
      if (isPinned || (inForce === ownFormat && !isRested)) continue
      lookedAt = bus.clock.monotonic()
      const members = await fleetMembers(options)
      const next = choice.next({ inForce, members, topicPrefix, now: bus.clock.monotonic() })
      if (next !== undefined) await changeFormat(options, { from: inForce, to: next })
    } catch (error) {
      log.debug({ err: error }, 'the members of the fleet cannot be compared now')
      if (isUnauthorized(error) && !(error as WeirError).retryable) return
    }
  }
}

/** No change: an operator or another process was faster, and the next look compares again. */
async function changeFormat(
  { bus, settings, log }: Options,
  change: { from: number; to: number },
): Promise<void> {
  if (await changeFleetFormat({ bus, topicPrefix: settings.topicPrefix }, change))
    log.info({ format: change.to }, 'another record format is in force now')
}

async function ifAllowed<T>(work: () => Promise<T>, log: Logger): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isUnauthorized(error)) throw error
    log.info(
      { reason: (error as WeirError).message },
      'this user may not compare the versions of the fleet: an operator sees and sets them with weir fleet',
    )
    return undefined
  }
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof WeirError && error.code === 'bus.unauthorized'
}
