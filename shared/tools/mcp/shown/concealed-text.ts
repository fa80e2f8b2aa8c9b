// Text that a model reads and a person does not see: characters without a picture that carry a message,
// or that show a text in another order. Honest uses stay: flags and other sequences of emoji, variants of
// a character, joiners of scripts, and marks of text that runs from right to left.
// CONCEALED-TEXT-1. Each character is judged by its neighbours, so a text takes linear time.

import {
  directionBegins,
  directionEnds,
  directionMarks,
  directionOverrides,
  formats,
  selectors,
  tags,
  zeroWidth,
} from '../../../lib/text/invisible.ts'

/** The kinds, in the words of a person. */
export type ConcealedKind =
  | 'tag characters'
  | 'variation selectors'
  | 'direction controls'
  | 'zero-width characters'

const anyOf = (...classes: string[]) => new RegExp(`[${classes.join('')}]`, 'u')
const possible = anyOf(formats)

/** The flag of a region, such as Scotland: a black flag, at most six tags, an end. */
const flag = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f}/gu
const tag = anyOf(tags)
const selector = anyOf(selectors)
const picture = /[\p{Emoji}\p{So}\p{Sm}]/u
const ideograph = /[\p{Script=Han}\p{Script=Mongolian}\p{Script=Phags_Pa}\p{Script=Myanmar}]/u
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u
const override = anyOf(directionOverrides)
const opening = anyOf(directionBegins)
const closing = anyOf(directionEnds)
const mark = anyOf(directionMarks)
const withoutWidth = anyOf(zeroWidth)
const latin = /[A-Za-z0-9]/
const softHyphen = '\u00ad'

/** The text without concealed characters, and their kinds. Without any, it is the same text. */
export function withoutConcealed(text: string): { text: string; kinds: Set<ConcealedKind> } {
  const kinds = new Set<ConcealedKind>()
  if (!possible.test(text)) return { text, kinds }
  const flags = [...text.matchAll(flag)].map(({ index, 0: all }) => [index, index + all.length])
  const lines = text.split(/(\r?\n)/)
  let shown = ''
  let begin = 0
  for (const line of lines) {
    shown += lineOf(line, begin)
    begin += line.length
  }
  return { text: shown, kinds }

  function lineOf(line: string, at: number): string {
    if (!possible.test(line)) return line
    const characters = [...line]
    const mayTurn = rightToLeft.test(line) && isBalanced(characters)
    let place = at
    return characters
      .filter((character, index) => {
        const start = place
        place += character.length
        const isOfFlag = flags.some(([from = 0, to = 0]) => start >= from && start < to)
        const kind = isOfFlag ? undefined : kindOf(characters, index, mayTurn)
        if (kind !== undefined) kinds.add(kind)
        return kind === undefined
      })
      .join('')
  }
}

/** Undefined: the character is no concealed text. */
function kindOf(
  characters: readonly string[],
  index: number,
  mayTurn: boolean,
): ConcealedKind | undefined {
  const character = characters[index] ?? ''
  const [before = '', after = ''] = [characters[index - 1], characters[index + 1]]
  if (tag.test(character)) return 'tag characters'
  if (selector.test(character))
    return isVariant(before, character, after) ? undefined : 'variation selectors'
  if (override.test(character)) return 'direction controls'
  if (opening.test(character) || closing.test(character) || mark.test(character))
    return mayTurn ? undefined : 'direction controls'
  if (!withoutWidth.test(character)) return undefined
  const isRun = withoutWidth.test(before) || withoutWidth.test(after)
  const isInWord = latin.test(before) && latin.test(after) && character !== softHyphen
  return isRun || isInWord ? 'zero-width characters' : undefined
}

/** A digit has a variant only as a key, in front of its frame. */
function isVariant(before: string, selected: string, after: string): boolean {
  if (/[0-9#*]/.test(before)) return selected === '\ufe0f' && after === '\u20e3'
  return selected >= '\ufe00' && selected <= '\ufe0f'
    ? picture.test(before) || ideograph.test(before)
    : ideograph.test(before)
}

function isBalanced(characters: readonly string[]): boolean {
  let open = 0
  for (const character of characters) {
    if (opening.test(character)) open += 1
    if (closing.test(character)) open -= 1
    if (open < 0) return false
  }
  return open === 0
}
