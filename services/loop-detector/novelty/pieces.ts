// The pieces of a result that may be new: its lines, the objects of JSON, or the links that a search
// found. Reads that overlap, and searches with the same hits, bring only known pieces.
//
// The place of a piece is no piece: its number in a list, its score, the range of a read,
// the header of a host.
// Pieces beyond the maximum count as new, and a forgotten piece seems new again.

import { codexResult } from '../../../shared/contract/codex-header.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { jsonIn } from '../../../shared/lib/json/json-object.ts'
import { remember } from '../../../shared/lib/recency.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { commandIn, isShell, wordsOf } from '../evidence/effect.ts'
import { textHash } from '../evidence/fingerprint.ts'
import { masked } from '../evidence/mask.ts'
import { subjectOf } from '../evidence/subject.ts'
import { targetsIn } from '../meaning/check.ts'
import { parametersIn } from '../meaning/page-reference.ts'
import { isScroll } from '../meaning/step.ts'

/** Lines of results that are remembered, as hashes. */
export const loopLinesMax = 2_048

/** `subject`: of the call. Two views of one subject may show the same. */
export type View = { subject: string; pieces: string[] }

/** The view of a call whose result has several pieces, and which reads, scrolls or checks. */
export function viewOf(call: CallEvidence): View | undefined {
  const { failure, effect, poll, raw, value, tool, operation, freeText } = call
  if (poll || call.isDenied || !hasPieces(call.text)) return undefined
  const text = codexResult(call.text)?.output ?? call.text
  if (failure === undefined && (effect === 'reads' || isScroll(call))) {
    const subject = `${tool} ${subjectOf(value, freeText)} ${parametersIn(raw)}`
    if (freeText && operation === tool) return { subject, pieces: hitsIn(text) }
    return { subject, pieces: ranged.test(raw) ? withoutRange(linesIn(text)) : linesIn(text) }
  }
  if (effect !== 'changes' || !isShell(wordsOf(tool))) return undefined
  const targets = targetsIn(commandIn(value) ?? '')
  if (targets === undefined) return undefined
  return { subject: `check ${targets}`, pieces: linesIn(text).map(masked) }
}

/** Adds the pieces to those of the turn. Returns whether one is new. */
export function addPieces(known: Set<number>, { pieces }: View): boolean {
  let isNew = pieces.length > loopLinesMax
  for (const piece of pieces.slice(0, loopLinesMax)) {
    const plain = piece.trim()
    if (plain !== '' && remember(known, textHash(plain), loopLinesMax)) isNew = true
  }
  return isNew
}

/** Shorter texts acknowledge. A line of JSON is a view if its length is no acknowledgement. */
const charactersMin = 24
const jsonCharactersMin = 64

function hasPieces(text: string): boolean {
  if (text.length < charactersMin) return false
  return text.trim().includes('\n') || (text.length >= jsonCharactersMin && /^\s*[[{]/.test(text))
}

function linesIn(text: string): string[] {
  const json = text.trim().includes('\n') ? undefined : jsonIn(text)
  return json === undefined
    ? text.split('\n', loopLinesMax + 1)
    : linesOfJson(json, 0).slice(0, loopLinesMax + 1)
}

/** A text of several lines has a piece for each line. The other members of an object are one piece. */
function linesOfJson(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > limits.argumentDepthMax) return []
  const lines: string[] = []
  const own: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' && member.includes('\n')) lines.push(...member.split('\n'))
    else if (typeof member === 'object') lines.push(...linesOfJson(member, depth + 1))
    else own.push(`"${name}":${member}`)
  }
  return [...lines, own.join()]
}

/** The links of a search. Without links its lines, without their places in the list. */
function hitsIn(text: string): string[] {
  const links = text.match(link) ?? []
  return links.length > 1 ? links : linesIn(text).map((line) => line.replace(placeInList, ''))
}

const link = /https?:\/\/[^\s"'<>()[\]\\]{3,300}/g
const placeInList =
  /^\s*(?:\d{1,3}[.)]|[-*•]|\[\d{1,3}\])\s|"?\b(?:score|rank|relevance|similarity|distance|position)"? ?[:=] ?-?[\d.]+/gi

/** The frame of a range stands at its ends. */
function withoutRange(lines: string[]): string[] {
  return lines.map((line, at) =>
    at < frameLines || at >= lines.length - frameLines ? line.replace(range, '') : line,
  )
}

const frameLines = 6
/** The arguments of a read that name a range. */
const ranged = /"(?:offset|limit|start|end|from|to|line|lines|range|view_range)(?:_?line)?"/i
const range =
  /"?\b(?:(?:start|end|from|to)?_?lines?|offset|start|end|from|to)"?[:= ]{1,2}\d+(?: ?(?:-|to|–) ?\d+)?/gi
