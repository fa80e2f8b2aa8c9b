// The mutants of the loop-detector's judgement: each threshold one up and one down, and each mask
// and each sign of an error removed. A test that notices one fails.

/** `change`: the new text of the line; null: the line is removed. Lines count from 1. */
export type Mutant = { file: string; line: number; was: string; change: string | null }

const thresholdsInForce = 'shared/contract/thresholds.ts'
const patience = 'services/loop-detector/patience.ts'
const masks = 'services/loop-detector/evidence/mask.ts'
const errors = 'services/loop-detector/evidence/error-text.ts'
/** Files with a number that a rule compares, as one constant a line. */
const constants = [
  'services/loop-detector/rules/cycle.ts',
  'services/loop-detector/meaning/reported-failure.ts',
  'services/loop-detector/evidence/random-suffix.ts',
  'services/loop-detector/evidence/temporary-name.ts',
]

/** `read`: the text of a source file. */
export function mutantsOf(read: (file: string) => string): Mutant[] {
  return [
    ...numbersIn(thresholdsInForce, read(thresholdsInForce), (line) => /^ *default: \d/.test(line)),
    ...numbersIn(patience, read(patience), (line) => !/^\s*(?:\/\/|\/?\*)|^import/.test(line)),
    ...constants.flatMap((file) =>
      numbersIn(file, read(file), (line) => /^const \w+ = \d+$/.test(line)),
    ),
    ...elementsIn(masks, read(masks)),
    ...elementsIn(errors, read(errors)),
  ]
}

function numbersIn(file: string, text: string, isWanted: (line: string) => boolean): Mutant[] {
  return text.split('\n').flatMap((was, index) => {
    if (!isWanted(was)) return []
    return [...was.matchAll(/\b\d+\b/g)].flatMap(({ 0: digits, index: at }) =>
      [Number(digits) + 1, Number(digits) - 1].map((number) => ({
        file,
        line: index + 1,
        was,
        change: was.slice(0, at) + number + was.slice(at + digits.length),
      })),
    )
  })
}

/** Mutants of lists with one pattern a line. */
function elementsIn(file: string, text: string): Mutant[] {
  return text
    .split('\n')
    .flatMap((was, index) =>
      /^ {2}(?:String\.raw`.*`|'.*'|\/.*\/\w*|\w+),$/.test(was)
        ? [{ file, line: index + 1, was, change: null }]
        : [],
    )
}
