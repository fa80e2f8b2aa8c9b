// One call of an opened round: the model's arguments, the difference from the earlier call, the
// verdict, the result.

import type { CallTimeline } from '../../../shared/view/timeline.ts'
import { argumentsText } from '../../history/inspect/argument-words.ts'
import { elapsed } from '../../terminal/text/quantities.ts'
import type { CallFindings, ShownTurn } from './data.ts'
import { type Child, element } from './element.ts'
import { icon } from './icons.ts'
import { argumentDiff, type MemberDiff } from './member-diff.ts'
import { markOfCall } from './tones.ts'
import { code, quote } from './words.ts'

/** `isImported`: its times are made up. */
type In = { turn: ShownTurn; isImported: boolean }

export function callDetails(
  call: CallTimeline,
  found: CallFindings | undefined,
  { turn, isImported }: In,
): HTMLElement {
  const { name, id, raw, verdict, result } = call
  const mark = markOfCall(call)
  const hasTrouble = call.problem !== null || call.repair !== null || call.disputed
  return element(
    'article',
    { class: `call ${mark.tone}` },
    element(
      'h3',
      {},
      icon(mark, false),
      code(name),
      element('span', { class: `status ${mark.tone}` }, mark.word),
      id !== '' && element('span', { class: 'faint id' }, id),
    ),
    part(
      'Arguments, as sent',
      raw === '' ? element('p', { class: 'faint' }, 'no byte') : quote(raw),
    ),
    element('p', { class: hasTrouble ? 'warning note' : 'faint note' }, argumentsText(call)),
    call.repair !== null && part('Before they were mended', quote(call.repair.sent)),
    found?.canonical != null && part('As the loop-detector compares them', quote(found.canonical)),
    found !== undefined && difference(raw, found, turn),
    verdict.kind === 'rejected' &&
      part(
        'Rejected before execution',
        element(
          'p',
          { class: 'bad' },
          `${verdict.reason} `,
          element('span', { class: 'faint' }, `(${verdict.code})`),
        ),
      ),
    verdict.kind === 'not-cleared' &&
      verdict.reason !== '' &&
      part('Not let through', element('p', {}, verdict.reason)),
    !isImported && tries(call),
    result !== null &&
      part(
        result.status === 'ok' ? 'Result' : 'Text for the model',
        result.text === '' ? element('p', { class: 'faint' }, 'nothing') : quote(result.text),
      ),
    result !== null &&
      result.status !== 'ok' &&
      result.reason !== '' &&
      verdict.kind !== 'rejected' &&
      element('p', { class: 'note' }, `In short: ${result.reason}`),
  )
}

function part(title: string, ...children: Child[]): HTMLElement {
  return element('div', { class: 'part' }, element('h4', {}, title), children)
}

// ── The earlier call ──

function difference(raw: string, { previous }: CallFindings, turn: ShownTurn): HTMLElement | null {
  if (previous === null) return null
  const earlier = turn.rounds
    .find(({ round }) => round === previous.round)
    ?.calls.find(({ ordinal }) => ordinal === previous.ordinal)
  if (earlier === undefined) return null
  const title = `Compared with round ${previous.round}`
  if (previous.same && earlier.raw === raw)
    return part(title, element('p', { class: 'warning' }, 'The same call, byte for byte.'))
  const { unchanged, members } = argumentDiff(earlier.raw, raw)
  if (members.length === 0)
    return part(
      title,
      element(
        'p',
        { class: 'warning' },
        'The same members with the same values, written otherwise.',
      ),
    )
  const rest =
    unchanged === 0
      ? ''
      : `${unchanged} ${unchanged === 1 ? 'member is' : 'members are'} unchanged.`
  return part(
    title,
    previous.same &&
      element('p', { class: 'warning' }, 'It means the same, and is written otherwise.'),
    element('ul', { class: 'diff' }, members.map(memberLine)),
    rest !== '' && element('p', { class: 'faint' }, rest),
  )
}

const signs = { added: '+', removed: '−', changed: '~' } as const

/** A changed member, with its sign. */
export function memberLine(member: MemberDiff): HTMLElement {
  const text =
    member.kind === 'changed'
      ? member.pieces.map(({ kind, text }) =>
          kind === 'same' ? shortened(text) : element(kind === 'added' ? 'ins' : 'del', {}, text),
        )
      : [
          element(
            member.kind === 'added' ? 'ins' : 'del',
            {},
            member.text === '' ? '""' : member.text,
          ),
        ]
  return element(
    'li',
    { class: member.kind },
    element('span', { class: 'sign', title: member.kind }, signs[member.kind]),
    member.path !== '' && element('code', { class: 'path' }, member.path),
    element('span', { class: 'pieces' }, text),
  )
}

const sameCharactersMax = 120

/** Of an unchanged part, the ends beside the changes suffice. */
function shortened(text: string): string {
  return text.length <= sameCharactersMax
    ? text
    : `${text.slice(0, sameCharactersMax / 2)} … ${text.slice(-sameCharactersMax / 2)}`
}

// ── Tries ──

const tryEnds = {
  result: 'ended',
  'given-back': 'was given back, not started,',
  lapsed: 'was lost with its process',
  late: 'ended too late to count',
  open: 'runs',
} as const

function tries({ tries, verdict }: CallTimeline): HTMLElement | null {
  if (tries.length === 0 || verdict.kind !== 'cleared') return null
  const after = (at: number) => elapsed(Math.max(0, at - verdict.at))
  const lines = tries.map(({ try: number, claimedAt, startedAt, endedAt, end, status }) =>
    element(
      'li',
      {},
      `Try ${number}: claimed after ${after(claimedAt)}`,
      startedAt !== null && `, started after ${after(startedAt)}`,
      endedAt !== null &&
        `, ${tryEnds[end]}${status === null ? '' : ` (${status.replace('_', ' ')})`} after ${after(endedAt)}`,
    ),
  )
  return part('It ran', element('ol', { class: 'tries' }, lines))
}
