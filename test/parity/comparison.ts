// Compares the interventions of the log with those of `weir judge`, for all traces of a corpus and one
// way to show them. Excluded by definition: caps, guards, and the facts that a way cannot show
// (`leavesOut` and `shows` of each driver).

import type { Scenario } from '../../apps/replay/judge/scenario.ts'
import type { GuestHints } from '../../shared/agents/guest.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import {
  allJudged,
  type corpora,
  type IntervenedAt,
  tracesIn,
  transcriptFor,
} from '../support/traces.ts'
import type { Driver, ParityWorld } from './driver.ts'

/** A trace mostly waits for the stages, and the stages commit the steps of several traces at once. */
const tracesAtOnce = 16

/** The traces with other interventions, as texts. `part`: of the traces (`partOf`). */
export async function differingIn(
  world: ParityWorld,
  driver: Driver,
  file: (typeof corpora)[number],
  part: Part,
): Promise<string[]> {
  const cases = partOf(tracesIn(file).traces, part).flatMap((scenario) => {
    const transcript = transcriptFor(scenario)
    if (driver.leavesOut?.(transcript) !== undefined) return []
    // Two corpora have traces with one name.
    return [{ scenario, transcript, thread: `${driver.name} ${file.name} ${scenario.id}` }]
  })
  const waiting = cases.values()
  const driveNext = async () => {
    for (const { transcript, thread } of waiting)
      await driver.drive(world.guards(hintsIn(transcript)), transcript, thread)
  }
  await Promise.all(Array.from({ length: tracesAtOnce }, driveNext))

  const differing: string[] = []
  for (const { scenario, thread } of cases) {
    const expected = JSON.stringify(expectedOf(driver, scenario))
    const found = JSON.stringify(await world.interventions(thread))
    if (found !== expected) differing.push(`${scenario.id}: ${expected} ${found}`)
  }
  return differing
}

/** Every `of`-th trace, from the one with this number on. */
export type Part = { from: number; of: number }

/**
 * The traces of one way among several: each trace goes one of the ways. With
 * `WEIR_TEST_PARITY=all` each trace goes all of them (`make parity`).
 */
export function partOf<T>(traces: readonly T[], { from, of }: Part): readonly T[] {
  if (process.env.WEIR_TEST_PARITY === 'all') return traces
  return traces.filter((_, n) => n % of === from % of)
}

/**
 * The formats or SDKs of a way. They take turns over the corpora, so a run stays short. With
 * `WEIR_TEST_PARITY=all` each one shows every corpus (`make parity`).
 */
export function turn<T>(all: readonly T[], n: number): readonly T[] {
  return process.env.WEIR_TEST_PARITY === 'all' ? all : [all[n % all.length] as T]
}

function expectedOf({ shows, endsAt }: Driver, scenario: Scenario): IntervenedAt[] {
  const all = judgedForGuest(shows?.(scenario) ?? scenario)
  const end = all.findIndex(({ action }) => action === endsAt)
  return end < 0 ? all : all.slice(0, end + 1)
}

/** By scenario: several drivers show the same scenario. */
const judgedScenarios = new WeakMap<Scenario, IntervenedAt[]>()

function judgedForGuest(shown: Scenario): IntervenedAt[] {
  const judgedBefore = judgedScenarios.get(shown)
  if (judgedBefore !== undefined) return judgedBefore
  const all = allJudged({ ...shown, id: `guest:${shown.id}` }) // its answers alone prove a wait
  judgedScenarios.set(shown, all)
  return all
}

function hintsIn({ tools = [] }: Transcript): Record<string, GuestHints> {
  return Object.fromEntries(
    tools.flatMap(({ name, poll, hints }) => (hints === null ? [] : [[name, { ...hints, poll }]])),
  )
}
