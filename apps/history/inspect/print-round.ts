// One round of a timeline on a page: attempts, what the model said, calls, and what the
// loop-detector made of it.

import { rules } from '../../../services/loop-detector/rules.ts'
import type { CallId } from '../../../shared/contract/ids.ts'
import { count, took } from '../../terminal/quantities.ts'
import type { Page } from './page.ts'
import { printCall } from './print-call.ts'
import { printGuard } from './print-guard.ts'
import type {
  AttemptTimeline,
  InterventionTimeline,
  PolicyTimeline,
  ResponseTimeline,
  RoundTimeline,
} from './timeline.ts'

/**
 * `nextNudge`: what the request of the next round showed; an intervention's text is printed there.
 * `policyBefore`: the version that judged the round before; the same again is no news.
 */
export function printRound(
  page: Page,
  round: RoundTimeline,
  {
    startedAt,
    nextNudge,
    policyBefore,
  }: { startedAt: number; nextNudge: string | null; policyBefore: string | undefined },
): void {
  const {
    askedAt,
    nudge,
    callsLeft,
    attempts,
    response,
    failure,
    note,
    calls,
    guards,
    intervention,
    cancelledAt,
  } = round
  const begins = askedAt === null ? '' : `, after ${took(askedAt - startedAt)}`
  page.line(2, `Round ${round.round}${begins}${timesText(round)}`, 'title')
  if (round.policy !== null && round.policy.version !== policyBefore)
    page.entry(4, 'policy', policyText(round.policy), 'faint')
  if (callsLeft === 0)
    page.entry(
      4,
      'limited',
      'text only: the model was asked once more and could not call a tool',
      'warning',
    )
  if (nudge !== null) {
    page.entry(4, 'shown', 'at the top of this request:', 'warning')
    page.quote(6, nudge)
  }
  printAttempts(page, attempts)
  if (response !== null) printResponse(page, response)
  for (const call of calls) printCall(page, call)
  for (const guard of guards) printGuard(page, guard)
  if (failure !== null) page.entry(4, 'failed', `(${failure.class}) ${failure.reason}`, 'bad')
  if (note !== null && failure === null) page.entry(4, 'note', note, 'bad')
  if (intervention !== null) printIntervention(page, 'detector', intervention, nextNudge)
  for (const wouldBe of round.shadowed) printIntervention(page, 'in shadow', wouldBe, nextNudge)
  if (cancelledAt !== null)
    page.entry(
      4,
      'cancel',
      `nothing more of this round was to start, ${took(Math.max(0, cancelledAt - (askedAt ?? cancelledAt)))} after it was asked for`,
      'warning',
    )
  if (round.endedAt === null) page.entry(4, 'open', waitsFor(round), 'warning')
}

function timesText({ times: { modelMs, checksMs, toolsMs } }: RoundTimeline): string {
  const known = Object.entries({ model: modelMs, checks: checksMs, tools: toolsMs }).filter(
    ([, ms]) => ms !== null,
  )
  return known.length === 0
    ? ''
    : `: ${known.map(([name, ms]) => `${name} ${took(ms ?? 0)}`).join(', ')}`
}

function waitsFor({ response, failure, calls, guards }: RoundTimeline): string {
  const awaited = guards.filter(
    ({ answer, calls }) => answer === 'none' && calls.some(({ mode }) => mode === 'enforce'),
  )
  if (
    awaited.length > 0 &&
    calls.some(({ result, tries }) => result === null && tries.length === 0)
  )
    return `waits for ${awaited.map(({ name }) => `guard ${name}`).join(', ')}`
  if (response === null && failure === null) return 'waits for the model'
  return calls.some(({ verdict, result }) => verdict.kind === 'cleared' && result === null)
    ? 'waits for its tools'
    : 'waits to be judged'
}

// ── What the model did ──

/** One that went well is no news. */
function printAttempts(page: Page, attempts: AttemptTimeline[]): void {
  for (const [index, attempt] of attempts.entries()) {
    const { end, failure, startedAt, endedAt, firstPartAt } = attempt
    const ran = startedAt !== null && endedAt !== null ? ` after ${took(endedAt - startedAt)}` : ''
    const label = `attempt ${index + 1}`
    if (failure !== null) {
      const next = failure.retryable
        ? `; another may follow ${took(failure.retryAfterMs)} later`
        : '; no other can help'
      page.entry(4, label, `failed${ran} (${failure.class}): ${failure.reason}${next}`, 'bad')
    } else if (end === 'answer' && attempts.length > 1)
      page.entry(4, label, `answered${ran}`, 'faint')
    else if (end === 'unused')
      page.entry(4, label, `answered${ran}, too late: another one was the answer already`, 'faint')
    else if (end === 'abandoned')
      page.entry(4, label, 'was given up: it was told to stop, or its process went away', 'warning')
    else if (end === 'open')
      page.entry(
        4,
        label,
        firstPartAt === null ? 'runs; nothing has come yet' : 'runs; the model is speaking',
        'warning',
      )
  }
}

function printResponse(
  page: Page,
  { text, reasoning, stop, finish, usage, textCalls }: ResponseTimeline,
): void {
  if (reasoning !== null) {
    const size = `${count(reasoning.characters, 'character')}, ${count(reasoning.bytes, 'byte')} as sent`
    page.entry(
      4,
      'thinks',
      reasoning.text === null ? `${size}; --reasoning shows it` : size,
      'faint',
    )
    if (reasoning.text !== null) page.quote(6, reasoning.text)
  }
  if (text !== '') page.entryOrQuote(4, 'says', '', text)
  if (textCalls !== null) printTextCalls(page, textCalls)
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens
  const more =
    cached === 0 ? '' : `, cache ${usage.cacheReadTokens} read, ${usage.cacheWriteTokens} written`
  const why = `; stopped: ${stop}, ${finish === '' ? 'the provider gave no reason' : `the provider says ${finish}`}`
  const tone = stop === 'end' || stop === 'calls' ? 'faint' : 'warning'
  page.entry(4, 'tokens', `${usage.inputTokens} in, ${usage.outputTokens} out${more}${why}`, tone)
}

/** What was recovered is no longer in the text, so it is shown here. */
function printTextCalls(
  page: Page,
  { dialect, repairs, fault, text }: NonNullable<ResponseTimeline['textCalls']>,
): void {
  if (fault !== null)
    return page.entry(
      4,
      'no call',
      `the text is written like a call (${dialect}), and could not be run: ${fault}`,
      'warning',
    )
  const repaired = repairs.length === 0 ? '' : `, repaired: ${repairs.join(', ')}`
  page.entry(4, 'calls', `were recovered from its text (${dialect}${repaired}):`, 'warning')
  page.quote(6, text)
}

function policyText({ version, differs }: PolicyTimeline): string {
  const those = Object.entries(differs).map(([key, value]) => `${key} ${value ?? 'not capped'}`)
  return `${version}: ${those.length === 0 ? 'as by default' : those.join(', ')}`
}

/** `in shadow`: only what the rule would have done, so its text was shown to nobody. */
function printIntervention(
  page: Page,
  label: 'detector' | 'in shadow',
  intervention: InterventionTimeline,
  nextNudge: string | null,
): void {
  const {
    rung,
    ordinary,
    rule,
    ruleVersion,
    key,
    reason,
    text,
    class: failureClass,
    evidence,
  } = intervention
  const what = ordinary ? `${rung}, a usual reminder` : rung
  page.entry(
    4,
    label,
    `${what} (rule ${rule}, version ${ruleVersion}): ${reason}${failureClass === null ? '' : ` [${failureClass}]`}`,
    label === 'in shadow' ? 'faint' : 'warning',
  )
  if (key !== '') page.entry(6, 'key', key, 'faint')
  if (evidence.length > 0) page.entry(6, 'evidence', evidence.map(evidenceText).join('; '), 'faint')
  const endedBy = rules.find(
    ({ name, version }) => name === rule && version === ruleVersion,
  )?.endedBy
  if (endedBy !== undefined) page.entry(6, 'ended by', endedBy, 'faint')
  if (label === 'detector' && text !== '' && text !== nextNudge) page.quote(6, text)
}

function evidenceText({ round, ordinal }: Pick<CallId, 'round' | 'ordinal'>): string {
  return ordinal < 0 ? `round ${round}` : `round ${round} call ${ordinal}`
}
