// Compares the interventions of the log with those of `weir judge`, for all traces of a corpus and one
// way to show them. Excluded by definition: caps, guards, and the facts that a way cannot show
// (`leavesOut` and `shows` of each driver).

import type { Scenario } from '../../apps/replay/judge/scenario.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import {
  allJudged,
  type corpora,
  type IntervenedAt,
  tracesIn,
  transcriptFor,
} from '../support/traces.ts'
import type { Driver, ParityWorld } from './driver.ts'

/** The traces with other interventions, as texts. */
export async function differingIn(
  world: ParityWorld,
  driver: Driver,
  file: (typeof corpora)[number],
): Promise<string[]> {
  const differing: string[] = []
  for (const scenario of tracesIn(file).traces) {
    const transcript = transcriptFor(scenario)
    if (driver.leavesOut?.(transcript) !== undefined) continue
    const expected = JSON.stringify(expectedOf(driver, scenario))
    const found = JSON.stringify(await interventionsOf(world, driver, transcript, file.name))
    if (found !== expected) differing.push(`${scenario.id}: ${expected} ${found}`)
  }
  return differing
}

/**
 * The formats or SDKs of a way. They take turns over the corpora, so a run stays short. With
 * `WEIR_TEST_PARITY=all` each one shows every corpus (`make parity`).
 */
export function turn<T>(all: readonly T[], n: number): readonly T[] {
  return process.env.WEIR_TEST_PARITY === 'all' ? all : [all[n % all.length] as T]
}

function expectedOf({ shows, endsAt }: Driver, scenario: Scenario): IntervenedAt[] {
  const shown = shows?.(scenario) ?? scenario
  const all = allJudged({ ...shown, id: `guest:${shown.id}` }) // its answers alone prove a wait
  const end = all.findIndex(({ action }) => action === endsAt)
  return end < 0 ? all : all.slice(0, end + 1)
}

/** `corpus`: two of them have traces with one name. */
async function interventionsOf(
  world: ParityWorld,
  driver: Driver,
  transcript: Transcript,
  corpus: string,
): Promise<IntervenedAt[]> {
  const thread = `${driver.name} ${corpus} ${transcript.conversation}`
  const hints = Object.fromEntries(
    (transcript.tools ?? []).flatMap(({ name, poll, hints: own }) =>
      own === null ? [] : [[name, { ...own, poll }]],
    ),
  )
  await driver.drive(world.guards(hints), transcript, thread)
  return world.interventions(thread)
}
