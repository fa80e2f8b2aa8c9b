// Prints one round of a timeline: attempts, the model's response, calls, and the interventions of
// the loop-detector.

import { rules } from '../../../services/loop-detector/rules.ts'
import type { CallId } from '../../../shared/contract/ids.ts'
import { placeIn } from '../../../shared/view/place.ts'
import type {
  AttemptTimeline,
  InterventionTimeline,
  PolicyTimeline,
  ResponseTimeline,
  RoundTimeline,
} from '../../../shared/view/timeline.ts'
import { count, elapsed } from '../../terminal/text/quantities.ts'
import type { Page } from './page.ts'
import { printCall } from './print-call.ts'
import { approvalText, printGuard } from './print-guard.ts'

/**
 * `nextNudge`: the nudge in the next request, which prints the intervention's text already.
 * `policyBefore`: the policy version of the previous round. An unchanged one is not printed.
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
  const begins = askedAt === null ? '' : `, after ${elapsed(askedAt - startedAt)}`
  page.line(2, `Round ${round.round}${begins}${timesText(round)}`, 'title')
  if (round.policy !== null && round.policy.version !== policyBefore)
    page.entry(4, 'policy', policyText(round.policy), 'faint')
  if (callsLeft === 0)
    page.entry(4, 'limited', 'text only: a last request to the model, without tools', 'warning')
  if (nudge !== null) {
    page.entry(4, 'shown', 'with this request:', 'warning')
    page.quote(6, nudge)
  }
  printAttempts(page, attempts)
  if (response !== null) printResponse(page, response)
  for (const call of calls) printCall(page, call)
  for (const guard of guards) printGuard(page, guard)
  for (const question of round.questions ?? [])
    page.line(4, `call ${question.ordinal} needed input: ${approvalText(question)}`, 'faint')
  if (failure !== null) page.entry(4, 'failed', `(${failure.class}) ${failure.reason}`, 'bad')
  if (note !== null && failure === null) page.entry(4, 'note', note, 'bad')
  if (intervention !== null) printIntervention(page, 'detector', intervention, nextNudge)
  for (const wouldBe of round.shadowed) printIntervention(page, 'in shadow', wouldBe, nextNudge)
  if (cancelledAt !== null)
    page.entry(
      4,
      'cancel',
      `cancelled ${elapsed(Math.max(0, cancelledAt - (askedAt ?? cancelledAt)))} after its request: no further call starts`,
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
    : `: ${known.map(([name, ms]) => `${name} ${elapsed(ms ?? 0)}`).join(', ')}`
}

function waitsFor(round: RoundTimeline): string {
  const { at, names } = placeIn(round)
  return {
    model: 'waits for the model',
    guard: `waits for ${names.map((name) => `guard ${name}`).join(', ')}`,
    tool: 'waits for its tools',
    check: 'waits to be judged',
  }[at]
}

// ── Response ──

/** Omits a single successful attempt. */
function printAttempts(page: Page, attempts: AttemptTimeline[]): void {
  for (const [index, attempt] of attempts.entries()) {
    const { end, failure, startedAt, endedAt, firstPartAt, wait } = attempt
    const ran =
      startedAt !== null && endedAt !== null ? ` after ${elapsed(endedAt - startedAt)}` : ''
    const label = `attempt ${index + 1}`
    if (wait !== undefined && startedAt !== null)
      page.entry(4, label, `waited ${elapsed(startedAt - wait.at)}: ${wait.reason}`, 'faint')
    if (failure !== null) {
      const next = failure.retryable
        ? `; another may follow ${elapsed(failure.retryAfterMs)} later`
        : '; no retry can help'
      page.entry(4, label, `failed${ran} (${failure.class}): ${failure.reason}${next}`, 'bad')
    } else if (end === 'answer' && attempts.length > 1)
      page.entry(4, label, `answered${ran}`, 'faint')
    else if (end === 'unused')
      page.entry(4, label, `answered${ran}, too late: another attempt answered first`, 'faint')
    else if (end === 'abandoned')
      page.entry(4, label, 'abandoned: it was stopped, or its process ended', 'warning')
    else if (end === 'open' && wait !== undefined && startedAt === null)
      page.entry(4, label, `waits: ${wait.reason}`, 'warning')
    else if (end === 'open')
      page.entry(
        4,
        label,
        firstPartAt === null ? 'running, no output yet' : 'running, the model is writing',
        'warning',
      )
  }
}

function printResponse(
  page: Page,
  { text, reasoning, stop, finish, usage, textCalls, textCallsMode }: ResponseTimeline,
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
  if (textCalls !== null) printTextCalls(page, textCalls, textCallsMode)
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens
  const more =
    cached === 0 ? '' : `, cache ${usage.cacheReadTokens} read, ${usage.cacheWriteTokens} written`
  const why = `; stopped: ${stop}, ${finish === '' ? 'the provider gave no reason' : `the provider says ${finish}`}`
  const tone = stop === 'end' || stop === 'calls' ? 'faint' : 'warning'
  const { inputTokens, outputTokens } = usage
  const tokens =
    inputTokens + outputTokens + cached === 0
      ? 'not known'
      : `${inputTokens} in, ${outputTokens} out${more}`
  page.entry(4, 'tokens', `${tokens}${why}`, tone)
}

/** Recovered calls are no longer in the text, so the original is shown here. */
function printTextCalls(
  page: Page,
  { dialect, repairs, fault, held, text }: NonNullable<ResponseTimeline['textCalls']>,
  mode: ResponseTimeline['textCallsMode'],
): void {
  if (fault !== null) {
    const what =
      held === null
        ? `the text looks like a call (${dialect}), and could not run`
        : `the text holds a call (${dialect}), which did not run (textCalls: ${mode})`
    return page.entry(4, 'no call', `${what}: ${fault}`, 'warning')
  }
  const repaired = repairs.length === 0 ? '' : `, repaired: ${repairs.join(', ')}`
  page.entry(4, 'calls', `were recovered from its text (${dialect}${repaired}):`, 'warning')
  page.quote(6, text)
}

function policyText({ version, differs }: PolicyTimeline): string {
  const those = Object.entries(differs).map(([key, value]) => `${key} ${value ?? 'not capped'}`)
  return `${version}: ${those.length === 0 ? 'as by default' : those.join(', ')}`
}

/** `in shadow`: the rule had no effect, so the model never got its text. */
function printIntervention(
  page: Page,
  label: 'detector' | 'in shadow',
  intervention: InterventionTimeline,
  nextNudge: string | null,
): void {
  const {
    action,
    ordinary,
    rule,
    ruleVersion,
    key,
    reason,
    text,
    class: failureClass,
    evidence,
  } = intervention
  const step = ordinary ? `${action}, a usual reminder` : action
  page.entry(
    4,
    label,
    `${step} (rule ${rule}, version ${ruleVersion}): ${reason}${failureClass === null ? '' : ` [${failureClass}]`}`,
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
