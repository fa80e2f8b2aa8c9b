// Text that a model reads and a person does not see: characters without a picture that carry a message,
// or that show a text in another order. Honest uses stay: flags and other sequences of emoji, variants of
// a character, joiners of scripts, and marks of text that runs from right to left.
// Each character is judged by its neighbours, so a text takes linear time.
// Only the flags that exist stay, two styles of a picture, a few variants of
// ideographs, and joiners between letters of a script that joins. They carry no message.

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

/** The three flags of regions that exist: a black flag, the tags of `gbeng`, `gbsct` or `gbwls`, an end. */
const flag =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu
const tag = anyOf(tags)
const selector = anyOf(selectors)
const picture = /[\p{Emoji}\p{So}\p{Sm}]/u
const variant =
  /(?<=[\p{Script=Han}\p{Script=Mongolian}\p{Script=Phags_Pa}\p{Script=Myanmar}])[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/gu
/** Variants of ideographs in a text, at most. More carry a message. */
const variantsMax = 16
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u
const override = anyOf(directionOverrides)
const opening = anyOf(directionBegins)
const closing = anyOf(directionEnds)
const mark = anyOf(directionMarks)
const withoutWidth = anyOf(zeroWidth)
/** A letter, or a part of one, of a script that joins letters or has no blanks. */
const joining = /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}]/u
/** By kind of character: the neighbours between which it is honest. */
const honestWidths: [character: RegExp, before: RegExp, after: RegExp][] = [
  [/\u00ad/, /\p{L}/u, /\p{L}/u],
  [/\ufeff/, /^$/, /./su],
  [/\u200d/, /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u, /\p{Extended_Pictographic}/u],
  [/\u200b|\u200c|\u200d|\u180e/, joining, joining],
  [/\u200c|\u200d/, joining, /^$|[\s\p{P}]/u], // at the end of a word
]

/** The text without concealed characters, and their kinds. Without any, it is the same text. */
export function withoutConcealed(text: string): { text: string; kinds: Set<ConcealedKind> } {
  const kinds = new Set<ConcealedKind>()
  if (!possible.test(text)) return { text, kinds }
  const flags = [...text.matchAll(flag)].map(({ index, 0: all }) => [index, index + all.length])
  const hasFewVariants = (text.match(variant)?.length ?? 0) <= variantsMax
  const lines = text.split(/(\r?\n)/)
  let shown = ''
  let place = 0
  let nextFlag = 0
  for (const line of lines) shown += lineOf(line)
  return { text: shown, kinds }

  function lineOf(line: string): string {
    if (!possible.test(line)) {
      place += line.length
      return line
    }
    const characters = [...line]
    const mayTurn = rightToLeft.test(line) && isBalanced(characters)
    return characters
      .filter((character, index) => {
        const start = place
        place += character.length
        const [from = Number.POSITIVE_INFINITY, to = 0] = flags[nextFlag] ?? []
        if (place === to) nextFlag += 1
        if (start >= from) return true
        const kind = kindOf(characters, index, { mayTurn, hasFewVariants })
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
  { mayTurn, hasFewVariants }: { mayTurn: boolean; hasFewVariants: boolean },
): ConcealedKind | undefined {
  const character = characters[index] ?? ''
  const [before = '', after = ''] = [characters[index - 1], characters[index + 1]]
  if (tag.test(character)) return 'tag characters'
  if (selector.test(character)) {
    const isOfIdeograph = hasFewVariants && `${before}${character}`.search(variant) >= 0
    return isOfIdeograph || isStyle(before, character, after) ? undefined : 'variation selectors'
  }
  if (override.test(character)) return 'direction controls'
  if (opening.test(character) || closing.test(character) || mark.test(character))
    return mayTurn ? undefined : 'direction controls'
  if (!withoutWidth.test(character)) return undefined
  const isHonest = honestWidths.some(
    ([own, left, right]) => own.test(character) && left.test(before) && right.test(after),
  )
  return isHonest ? undefined : 'zero-width characters'
}

/** A picture in color or as text. A digit has a style only as a key, in front of its frame. */
function isStyle(before: string, selected: string, after: string): boolean {
  if (/[0-9#*]/.test(before)) return selected === '\ufe0f' && after === '\u20e3'
  return /[\ufe0e\ufe0f]/.test(selected) && picture.test(before)
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
