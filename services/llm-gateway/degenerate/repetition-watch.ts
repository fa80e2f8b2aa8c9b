// Watches the text of a running response for the same words without end. Some models fall into such
// a loop and stop only at their length limit.
//
// It fires at one period of at most 256 characters, 200 times in a row, over at
// least 4 KiB. The verdict does not depend on the cuts of the stream.
// Fenced code never counts. A stretch that a tool returned in this turn does not
// count either: only the repeats beyond it do.
// The memory is constant. Known texts are read only at a finding.

import { isRotation } from '../../../shared/lib/rotation.ts'
import { FenceLines } from './fence-lines.ts'
import { PeriodScan, type Stretch } from './period-scan.ts'

const timesMin = 200
const bytesMin = 4096
/**
 * Characters between two looks at a text without a finding. With the scan's memory it is less than
 * 4 KiB, so no stretch of ASCII is missed. One of wide characters may run on for a step.
 */
const stepChars = 3072
/** Characters of the known texts that are read, the newest ones. Bounds a finding's cost. */
const knownCharsMax = 1024 * 1024

/** `unit`: the repeated characters. */
export type Repetition = { unit: string; times: number }

export class RepetitionWatch {
  private readonly known: () => string[]
  private readonly fences = new FenceLines()
  private readonly scan = new PeriodScan()
  /** Not yet looked at. Joining strings costs less than joining a list. */
  private text = ''
  private gathered = 0
  private due = stepChars
  /** The repeats in known texts, for the unit of the current stretch. */
  private allowed: Repetition | undefined

  /** `known`: the results of this turn's tools, oldest first. */
  constructor(known: () => string[]) {
    this.known = known
  }

  /** Adds a piece of the text. Returns a repetition that is too long; undefined: none so far. */
  add(piece: string): Repetition | undefined {
    const gathered = this.gathered + piece.length
    if (gathered >= this.due) return this.addInSteps(piece)
    this.text += piece
    this.gathered = gathered
    return undefined
  }

  private addInSteps(piece: string): Repetition | undefined {
    let rest = piece
    while (this.gathered + rest.length >= this.due) {
      const taken = this.due - this.gathered
      this.text += rest.slice(0, taken)
      rest = rest.slice(taken)
      const found = this.look()
      if (found !== undefined) return found
    }
    this.text += rest
    this.gathered += rest.length
    return undefined
  }

  private look(): Repetition | undefined {
    const { text } = this
    this.text = ''
    this.gathered = 0
    this.due = stepChars
    for (const { text: open, isNew } of this.fences.add(text)) {
      if (isNew) this.scan.reset()
      const stretch = this.scan.add(open)
      if (stretch === undefined) continue
      const missing = this.missing(stretch)
      if (missing <= 0) return { unit: stretch.unit, times: timesIn(stretch) }
      this.due = Math.min(stepChars, missing)
    }
    return undefined
  }

  /** The characters until the stretch is too long. */
  private missing({ unit, length }: Stretch): number {
    const times = Math.max(timesMin, Math.ceil(bytesMin / Buffer.byteLength(unit)))
    const missing = times * unit.length - length
    if (missing > 0) return missing
    if (this.allowed === undefined || !isRotation(this.allowed.unit, unit))
      this.allowed = { unit, times: knownTimes(unit, this.known()) }
    return missing + this.allowed.times * unit.length
  }
}

function timesIn({ unit, length }: Stretch): number {
  return Math.floor(length / unit.length)
}

/** The longest row of this unit in each text, added up. A text may hold it as JSON writes it. */
function knownTimes(unit: string, texts: string[]): number {
  const inJson = JSON.stringify(unit).slice(1, -1)
  let chars = 0
  let times = 0
  for (const text of texts.toReversed()) {
    const read = text.slice(0, knownCharsMax - chars)
    chars += read.length
    times += timesOf(unit, read)
    if (inJson !== unit) times += timesOf(inJson, read)
  }
  return times
}

/** The longest row of the unit, in any rotation. */
function timesOf(unit: string, text: string): number {
  const period = unit.length
  let longest = 0
  let from = 0
  for (let at = period; at <= text.length; at += 1) {
    if (at < text.length && text.charCodeAt(at) === text.charCodeAt(at - period)) continue
    const times = Math.floor((at - from) / period)
    if (times > Math.max(1, longest) && isRotation(unit, text.slice(from, from + period)))
      longest = times
    from = at - period + 1
  }
  return longest
}
