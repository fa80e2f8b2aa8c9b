// Masks the volatile parts of results and errors: clocks, dates, durations, random ids, attempt
// counters. Texts that differ only in them are equal. Meaningful numbers are never masked: errno,
// HTTP status, counts, percentages, line numbers, ports.
//
// Each pattern is linear in the text, because output of tools is untrusted: no nested
// repetition over the same characters.
// Few passes, because a text is masked for every call. Each pattern starts at a word
// boundary, and similar starts share one expression.

import { limits } from '../../../shared/contract/limits.ts'
import { withoutReferences } from '../meaning/page-reference.ts'
import { temporaryFolder, withoutTemporaryPart } from './random-suffix.ts'

const mask = '<*>'

const time = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?`
const zone = '(?: ?(?:Z|UTC|GMT|[+-]\\d{2}:?\\d{2})\\b)?'
const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const dayFirst = String.raw`\d{1,2} ${month},? \d{4}(?:,? ${time})?${zone}`

/** Words that may be random ids as a whole: see isRandom. */
const longWord = /\b[0-9A-Za-z]{8,}(?:(?:-[0-9a-f]{4}){2,3}(?:-[0-9a-f]{12})?\b)?/g

/** Patterns that start with a word which names the number after it. The groups stay. */
const wordFirst = anyOf('gi', [
  String.raw`${weekday},? (?:${dayFirst}|${month} \d{1,2},? (?:\d{4}|${time})(?:,? ${time})?(?:,? \d{4})?)`,
  String.raw`${month} \d{1,2},? (?:\d{4}|${time})(?:,? ${time})?`,
  // A time without seconds could be a line and a column, or a score. So only after `at`.
  String.raw`at \d{1,2}:\d{2}\b(?!:)`,
  String.raw`((?:req(?:uest)?|trace|span|correlation|session|transaction|nonce|marker|chunk(?=[ _-]id))(?:[ _-]?id)?[-_:=# ]{1,3})(?=[a-z]*\d)[a-z0-9]{4,}\b`,
  // Hosts number their shells: `<shellId: 7 completed with exit code 0>`.
  String.raw`shell[ _-]?id[ :=#]{1,2}\d+\b`,
  // Durations by their name: "took": 12, duration_ms=12. With a word after it the number is a
  // count.
  String.raw`((?:took|\w{0,24}(?:duration|elapsed|latency)\w{0,8})"?[:= ]{1,2})\d+(?:\.\d+)?\b(?!\.\d| ?[a-z])`,
  // `process 3 of 8` and `process 30 items` are counts.
  String.raw`(?:pid|pgid|process)[ :=]{1,2}\d+\b(?! ?(?:/|of\b)| (?:items?|rows?|files?|records?|entries|steps?|pages?|jobs?|tasks?|messages?|orders?|requests?|bytes)\b)`,
  String.raw`(${temporaryFolder})([\w.+-]{6,80})`,
  String.raw`tmp[-_.]?(?=[a-z]*[0-9_])[a-z0-9_]{6,}\b`,
  // Attempt counters, not other counts.
  String.raw`(?:attempts?|retry|retries|try|tries)(?: (?:left|remaining|no\.?|number))?[ :=#]{0,3}\d+(?: ?(?:/|of) ?\d+)?\b`,
  String.raw`retry[- ]after[:= ]{1,2}\d+(?:\.\d+)?\b(?! ?[a-z])`,
])

const digitFirst = anyOf('g', [
  String.raw`\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]${time})?${zone}`,
  String.raw`\d{8}T\d{6}Z?\b`,
  dayFirst,
  String.raw`(?<![:.])\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b(?!:)`,
  String.raw`(?<![:.])\d{1,2}:\d{2} ?(?:[ap]m|[AP]M)\b`,
  // Seconds and milliseconds since the epoch, from 2017 to 2033, with a fraction or without.
  String.raw`1[5-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?\b`,
  // The address of a printed object: `<Order object at 0x7f1a2c1b4d10>`.
  '0x[0-9a-f]{9,16}(?=>)',
  // A pointer, without its last three digits: they are the place within a page, which differs
  // between the steps of a debugger. Shorter ones are codes.
  String.raw`0x[0-9a-f]{6,13}(?=[0-9a-f]{3}\b)`,
  String.raw`\d+(?:st|nd|rd|th)? (?:attempts?|retry|retries|try|tries)(?: (?:left|remaining))?\b`,
  // Ages: `2m ago`, and those of Kubernetes, `3h2m` and `2d5h`.
  String.raw`\d+ ?(?:[mhdwy]|days?|weeks?|months?|years?) ago\b`,
  String.raw`(?:\d+d\d+h|\d+h\d+m)\b(?! (?:left|remain|to go))`,
  // Durations, except remaining time, which is progress. A bare `m` may be metres or millions. A
  // bare `h` stays too unless more of a duration follows.
  String.raw`(?:\d+h ?)?\d+m ?\d+(?:\.\d+)?s\b(?! (?:left|remain|to go))`,
  String.raw`\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|msecs?|milliseconds?|s|secs?|seconds?|mins?|minutes?|hrs?|hours?)\b(?! (?:left|remain|to go))`,
])

/** The line of a shell in its own error: `bash: line 3: x: command not found`, `sh: 1: x`. */
const shellLine = /\b((?:ba|da|z|k)?sh: (?:-c: )?line |(?<![.\w])(?:ba|da|z|k)?sh: ?)\d+(?=: )/g

/**
 * Ages of a cluster, which grow by themselves: the last column of a row with `0/1`, `5m (x4 over 6m)`,
 * `"age":"5m"`.
 */
const rowAge = /(\s)\d{1,6}[smhdwy](?:\d{1,2}[smhd])?(?=\s{2}|\s*$)/g
const eventAge =
  /\d{1,6}[smhd](?:\d{1,2}[smh])?( \(x)\d{1,6} over \d{1,6}[smhd](?:\d{1,2}[smh])?(?=\))/g
const memberAge = /("age" ?: ?")\d{1,6}[smhdwy](?:\d{1,2}[smhd])?(?=")/g

function withoutAges(text: string): string {
  if (text.includes(' over ') || text.includes('"age"'))
    return text.replace(eventAge, `${mask}$1${mask}`).replace(memberAge, `$1${mask}`)
  return text.includes('AGE')
    ? text
        .split('\n')
        .map((line) => (ready.test(line) ? line.replace(rowAge, `$1${mask}`) : line))
        .join('\n')
    : text
}

const ready = /\d\/\d/

function anyOf(flags: string, alternatives: string[]): RegExp {
  return new RegExp(String.raw`\b(?:${alternatives.join('|')})`, flags)
}

/**
 * Masks the volatile parts and collapses blanks. The text beyond the bound stays unmasked, so it
 * seems new, not old.
 */
export function masked(text: string): string {
  const head = withoutAges(withoutReferences(text.slice(0, limits.loopMaskedCharsMax)))
  const shown = head.includes('\n')
    ? spaced(head.split('\n').map(maskedLine).join(' '))
    : maskedLine(spaced(head))
  return text.length <= limits.loopMaskedCharsMax
    ? shown
    : shown + text.slice(limits.loopMaskedCharsMax)
}

function maskedLine(line: string): string {
  if (!/\d/.test(line)) return line // every volatile part has a digit
  // Most lines have no such word, which saves a pass.
  return (line.includes('sh:') ? line.replace(shellLine, `$1${mask}`) : line)
    .replace(longWord, maskedWord)
    .replace(wordFirst, maskedBehindWord)
    .replace(digitFirst, mask)
}

function maskedWord(word: string): string {
  return isRandom(word) ? mask : word
}

function maskedBehindWord(
  _: string,
  id: string | undefined,
  duration: string | undefined,
  folder: string | undefined,
  name = '',
): string {
  if (folder !== undefined) return folder + maskedTemporary(name)
  return (id ?? duration ?? '') + mask
}

function maskedTemporary(name: string): string {
  return /^tmp[-_.]?(?=[a-z]*[0-9_])[a-z0-9_]{6,}$/i.test(name)
    ? mask
    : withoutTemporaryPart(name, mask)
}

/**
 * A UUID, mixed hex, or a long mixture of letters and digits. Not a plain word, and not a plain
 * number, which may be a count.
 */
function isRandom(word: string): boolean {
  if (!/\d/.test(word) || !/[a-z]/i.test(word)) return false
  if (/^[0-9a-f-]+$/i.test(word)) return true
  return word.length >= mixtureCharsMin && word.replace(/\D/g, '').length >= mixtureDigitsMin
}

const mixtureCharsMin = 20
const mixtureDigitsMin = 4

/** Collapses runs of blanks and trims the text. */
function spaced(text: string): string {
  return odd.test(text) ? text.replace(/\s{2,}|[^\S ]/g, ' ').trim() : text.trim()
}

/** Two blanks or a character beyond ASCII, which may be a blank. Most short texts have none. */
const odd = /[^ -~]| {2}/

/** Masks the call's own argument strings in the text. */
export function withoutEchoes(text: string, echoes: string[]): string {
  return echoes.reduce(
    (known, echo) => (known.includes(echo) ? known.replaceAll(echo, '<argument>') : known),
    text,
  )
}
