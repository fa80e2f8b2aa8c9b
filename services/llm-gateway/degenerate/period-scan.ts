// Finds the stretch at the end of a growing text that repeats with one period. Linear time, constant
// memory. Almost all text has no such stretch, so a step costs one search by the engine.
//
// A stretch is found once it has two of the longest periods. The nearest earlier copy
// of its last 256 characters then gives its shortest period (theorem of Fine and Wilf).
// The length counts from the first repeated character, wherever the text was cut.

/** The longest period, in UTF-16 units. */
export const periodMax = 256

/** `unit`: one period, as at the end of the text. `length`: of the whole stretch. */
export type Stretch = { unit: string; length: number }

export class PeriodScan {
  /** The end of the text so far. */
  private tail = ''
  private period = 0
  private length = 0

  /** Adds text. Returns the stretch at its end; undefined: there is none. */
  add(text: string): Stretch | undefined {
    if (this.period === 0 && isOdd(text)) {
      this.tail = text.slice(-2 * periodMax)
      return undefined
    }
    const seen = this.tail + text
    const from = this.tail.length
    const goesOn =
      this.period > 0 &&
      seen.slice(from) === seen.slice(from - this.period, seen.length - this.period)
    if (goesOn) this.length += text.length
    else this.find(seen)
    this.tail = seen.slice(-2 * periodMax)
    return this.period === 0
      ? undefined
      : { unit: seen.slice(seen.length - this.period), length: this.length }
  }

  /** Forgets the text. */
  reset(): void {
    this.tail = ''
    this.period = 0
    this.length = 0
  }

  private find(seen: string): void {
    this.period = 0
    this.length = 0
    const window = seen.slice(-2 * periodMax)
    if (window.length < 2 * periodMax) return
    const at = window.lastIndexOf(window.slice(periodMax), periodMax - 1)
    if (at < 0) return
    this.period = periodMax - at
    let begin = seen.length - 2 * periodMax + at
    while (begin > 0 && seen.charCodeAt(begin - 1) === seen.charCodeAt(begin - 1 + this.period))
      begin -= 1
    this.length = seen.length - begin
  }
}

const probeChars = 16

/** The last characters of a long text do not come in the period before: almost all texts end here. */
function isOdd(text: string): boolean {
  if (text.length < 2 * periodMax) return false
  const last = text.slice(-periodMax - probeChars)
  return last.indexOf(last.slice(-probeChars)) === periodMax
}
