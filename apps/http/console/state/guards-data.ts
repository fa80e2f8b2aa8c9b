// The registered guards with their verdicts of the last hour, minute by minute.
// It reads at most `consoleVerdictsMax` records of a partition, the newest.

import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { registeredGuards } from '../../../../shared/runtime/guards/guard-registry.ts'
import { answerTime, judgedBy, modeOn } from '../../../../shared/view/verdicts.ts'
import type { OpenLog } from '../../../history/open-log.ts'
import { listedGuards } from '../../../service/guards/list.ts'
import type { GuardsData, VerdictsOfMinute } from '../page/operator-state.ts'

/** A guard's records in a partition that the console counts, the newest. */
const consoleVerdictsMax = 20_000

const minuteMs = 60_000
const minutesShown = 60

type Minute = Omit<VerdictsOfMinute, 'p50Ms'> & { tookMs: number[] }

export async function guardsData(log: OpenLog, now: Milliseconds): Promise<GuardsData> {
  const last = Math.floor(now / minuteMs)
  const first = last - minutesShown + 1
  const byGuard = new Map<string, Map<number, Minute>>()

  function minuteOf(guard: string, time: Milliseconds): Minute {
    const minutes = byGuard.get(guard) ?? new Map<number, Minute>()
    byGuard.set(guard, minutes)
    const number = Math.floor(time / minuteMs)
    const minute = minutes.get(number) ?? emptyMinute(number)
    minutes.set(number, minute)
    return minute
  }

  const listed = await listedGuards(log, {
    since: first * minuteMs,
    recordsMax: consoleVerdictsMax,
    onVerdict(guard, answer, time) {
      const minute = minuteOf(guard, time)
      const { tookMs, isLate } = answerTime(answer, time)
      if (tookMs !== undefined && !isLate) minute.tookMs.push(tookMs)
      for (const { ordinal, verdict } of judgedBy(guard, answer.verdicts))
        if (verdict === 'allow') minute.allows += 1
        else if (modeOn(answer, ordinal) === 'shadow') minute.wouldDeny += 1
        else if (!isLate) minute.denies += 1
    },
    onSilence({ guard }, time) {
      minuteOf(guard, time).silent += 1
    },
  })
  const registered = new Map((await registeredGuards(log)).map((one) => [one.name, one]))
  const guards = listed.map((guard) => ({
    ...guard,
    rules: registered.get(guard.name)?.rules ?? null,
    setBy: registered.get(guard.name)?.setBy ?? '',
    registeredAt: registered.get(guard.name)?.registeredAt ?? now,
    minutes: Array.from({ length: minutesShown }, (_, place) =>
      shownMinute(byGuard.get(guard.name)?.get(first + place) ?? emptyMinute(first + place)),
    ),
  }))
  return { guards, now }
}

function emptyMinute(number: number): Minute {
  const at = number * minuteMs
  return { at, allows: 0, denies: 0, wouldDeny: 0, silent: 0, tookMs: [] }
}

function shownMinute({ tookMs, ...counts }: Minute): VerdictsOfMinute {
  const sorted = tookMs.toSorted((a, b) => a - b)
  return { ...counts, p50Ms: sorted[Math.floor(sorted.length / 2)] ?? null }
}
