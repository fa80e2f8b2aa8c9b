// One call of an opened round: the model's arguments, the difference from the earlier call, the
// verdict, the result.

import type { CallTimeline } from '../../../../shared/view/timeline.ts'
import { argumentsText } from '../../../history/inspect/argument-words.ts'
import { diffList } from '../../../page/kit/diff-list.ts'
import { type Child, html } from '../../../page/kit/html.ts'
import { argumentDiff } from '../../../page/kit/member-diff.ts'
import { quote } from '../../../page/kit/parts.ts'
import { code } from '../../../page/kit/texts.ts'
import { elapsed } from '../../../terminal/text/quantities.ts'
import type { CallFindings, ShownTurn } from '../data.ts'
import { icon } from '../list/icons.ts'
import { markOfCall } from '../list/tones.ts'

/** `isImported`: its times are made up. */
type In = { turn: ShownTurn; isImported: boolean }

export function callDetails(
  call: CallTimeline,
  found: CallFindings | undefined,
  { turn, isImported }: In,
): Child {
  const { name, id, rawArguments: raw, verdict, result, repair } = call
  const mark = markOfCall(call)
  const hasTrouble = call.problem !== null || repair !== null || call.disputed
  return html`<article class=${`call ${mark.tone}`}>
    <h3>
      ${icon(mark, false)} ${code(name)}
      <span class=${`status ${mark.tone}`}>${mark.word}</span>
      ${id !== '' && html`<span class="faint id">${id}</span>`}
    </h3>
    ${part('Arguments, as sent', raw === '' ? html`<p class="faint">no byte</p>` : quote(raw))}
    <p class=${hasTrouble ? 'warning note' : 'faint note'}>${argumentsText(call)}</p>
    ${repair !== null && part('Before they were mended', quote(repair.sent))}
    ${found?.canonical != null && part('As the loop-detector compares them', quote(found.canonical))}
    ${found !== undefined && difference(call, found, turn)}
    ${stopped(verdict)}
    ${!isImported && tries(call)}
    ${result !== null && resultPart(result)}
    ${
      result !== null &&
      result.status !== 'ok' &&
      result.reason !== '' &&
      verdict.kind !== 'deny' &&
      html`<p class="note">In short: ${result.reason}</p>`
    }
  </article>`
}

function stopped(verdict: CallTimeline['verdict']): Child {
  if (verdict.kind === 'deny') {
    const { reason, code } = verdict
    const text = html`<p class="bad">${reason} <span class="faint">(${code})</span></p>`
    return part('Denied before execution', text)
  }
  if (verdict.kind !== 'skipped' || verdict.reason === '') return null
  return part('Not let through', html`<p>${verdict.reason}</p>`)
}

function resultPart({ status, text }: NonNullable<CallTimeline['result']>): Child {
  const title = status === 'ok' ? 'Result' : 'Text for the model'
  return part(title, text === '' ? html`<p class="faint">nothing</p>` : quote(text))
}

function part(title: string, content: Child): Child {
  return html`<div class="part"><h4>${title}</h4>${content}</div>`
}

// ── The earlier call ──

function difference(
  { rawArguments: raw, waits }: CallTimeline,
  { previous }: CallFindings,
  turn: ShownTurn,
): Child {
  if (previous === null) return null
  const earlier = turn.rounds
    .find(({ round }) => round === previous.round)
    ?.calls.find(({ ordinal }) => ordinal === previous.ordinal)
  if (earlier === undefined) return null
  const title = `Compared with round ${previous.round}`
  const warning = (text: string) => html`<p class=${waits ? 'faint' : 'warning'}>${text}</p>`
  if (previous.same && earlier.rawArguments === raw)
    return part(title, warning('The same call, byte for byte.'))
  const { unchanged, members } = argumentDiff(earlier.rawArguments, raw)
  if (members.length === 0)
    return part(title, warning('The same members with the same values, written otherwise.'))
  const rest = `${unchanged} ${unchanged === 1 ? 'member is' : 'members are'} unchanged.`
  return part(title, [
    previous.same && warning('It means the same, and is written otherwise.'),
    diffList(members),
    unchanged > 0 && html`<p class="faint">${rest}</p>`,
  ])
}

// ── Tries ──

const tryEnds = {
  result: 'ended',
  'given-back': 'was given back, not started,',
  lapsed: 'was lost with its process',
  late: 'ended too late to count',
  open: 'runs',
} as const

function tries({ tries, verdict }: CallTimeline): Child {
  if (tries.length === 0 || verdict.kind !== 'allow') return null
  const after = (at: number) => elapsed(Math.max(0, at - verdict.at))
  const lines = tries.map(({ try: number, claimedAt, startedAt, endedAt, end, status }) =>
    [
      `Try ${number}: claimed after ${after(claimedAt)}`,
      ...(startedAt === null ? [] : [`started after ${after(startedAt)}`]),
      ...(endedAt === null
        ? []
        : [
            `${tryEnds[end]}${status === null ? '' : ` (${status.replace('_', ' ')})`} after ${after(endedAt)}`,
          ]),
    ].join(', '),
  )
  return part('It ran', html`<ol class="tries">${lines.map((line) => html`<li>${line}</li>`)}</ol>`)
}
