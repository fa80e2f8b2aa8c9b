// The mutants of the loop-detector's judgement: each threshold one up and one down, and each mask,
// each word of a list and each sign of an error removed. A test that notices one fails.

/** `change`: the new text of the line; null: the line is removed. Lines count from 1. */
export type Mutant = { file: string; line: number; was: string; change: string | null }

const thresholdsInForce = 'shared/contract/thresholds.ts'
const patience = 'services/loop-detector/patience.ts'
const masks = 'services/loop-detector/evidence/mask.ts'
const errors = 'services/loop-detector/evidence/error-text.ts'
const steady = 'services/loop-detector/waiting/steady.ts'
/** Files with a number that a rule compares, as one constant a line. */
const constants = [
  'services/loop-detector/rules/cycle.ts',
  'services/loop-detector/rules/successes/counting.ts',
  'services/loop-detector/meaning/agent-task.ts',
  'services/loop-detector/meaning/echo.ts',
  'services/loop-detector/meaning/lap-state.ts',
  'services/loop-detector/meaning/page-reference.ts',
  'services/loop-detector/meaning/place-on-screen.ts',
  'services/loop-detector/meaning/question.ts',
  'services/loop-detector/meaning/reported-failure.ts',
  'services/loop-detector/meaning/wording.ts',
  'services/loop-detector/evidence/random-suffix.ts',
]
/** Files with words in lists, or as alternatives of an expression for whole words. */
const wordLists = [
  'services/loop-detector/meaning/echo.ts',
  'services/loop-detector/meaning/lap-state.ts',
  'services/loop-detector/meaning/reported-failure.ts',
  'services/loop-detector/meaning/wording.ts',
]

/** `read`: the text of a source file. */
export function mutantsOf(read: (file: string) => string): Mutant[] {
  return [
    ...numbersIn(thresholdsInForce, read(thresholdsInForce), (line) => /^ *default: \d/.test(line)),
    ...numbersIn(patience, read(patience), (line) => !/^\s*(?:\/\/|\/?\*)|^import/.test(line)),
    ...constants.flatMap((file) =>
      numbersIn(file, read(file), (line) => /^const \w+ = [\d_]+$/.test(line)),
    ),
    ...wordLists.flatMap((file) => wordsIn(file, read(file))),
    ...elementsIn(masks, read(masks)),
    ...elementsIn(errors, read(errors)),
    ...elementsIn(steady, read(steady)),
  ]
}

function numbersIn(file: string, text: string, isWanted: (line: string) => boolean): Mutant[] {
  return text.split('\n').flatMap((was, index) => {
    if (!isWanted(was)) return []
    return [...was.matchAll(/\b\d[\d_]*\b/g)].flatMap(({ 0: digits, index: at }) =>
      [1, -1]
        .map((step) => Number(digits.replaceAll('_', '')) + step)
        .map((number) => ({
          file,
          line: index + 1,
          was,
          change: was.slice(0, at) + number + was.slice(at + digits.length),
        })),
    )
  })
}

/** Mutants without one word each. */
function wordsIn(file: string, text: string): Mutant[] {
  return [
    ...elementsIn(file, text),
    ...text.split('\n').flatMap((was, index) => {
      const [, before = '', list = '', after = ''] = wordList.exec(was) ?? []
      const separator = after.includes('split') ? ' ' : '|'
      const words = alternativesOf(list, separator)
      if (words.length < 2) return []
      return words.map((_, at) => ({
        file,
        line: index + 1,
        was,
        change: before + words.toSpliced(at, 1).join(separator) + after,
      }))
    }),
  ]
}

const wordList = /^(.*\/\^\(\?:| {2}')([^'/]*)(\)\$\/i?|\|?'(?: \+|,|\.split\((?:' '\),)?)?)$/

/** Those outside of groups. */
function alternativesOf(list: string, separator: string): string[] {
  let depth = 0
  const words = ['']
  for (const char of list) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0
    if (char === separator && depth === 0) words.push('')
    else words.push((words.pop() ?? '') + char)
  }
  return words
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
