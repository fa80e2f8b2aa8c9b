// The prose lint: finds the sentences of a text that break the rules of our voice
// (CONTRIBUTING.md). It reads Markdown, and the comments and test titles of a source. A code span
// or a quoted text counts as one word, and no rule applies inside it.

import { type Kind, paragraphsOf } from './paragraphs.ts'

export type Fault = { file: string; line: number; kind: Kind; rule: string; sentence: string }

const maxWords = 30

/** A pattern that no sentence may contain, with the rule to print. */
const banned: [rule: string, pattern: RegExp][] = [
  // Two uses stay: "what-if", and "shows what it does", where a noun would be less clear.
  [
    'no clause with "what" as subject or object',
    /(?<!\bshows? (?=what (?:it|you|the|Weir|would)\b))\bwhat\b(?!-)/i,
  ],
  ['no clause with "whatever"', /\b(?:whatever|whatsoever)\b/i],
  // A relative clause after its noun stays: "the user who approved".
  [
    'no clause with "who" as subject or object',
    /(?:^|[,.:;(–—] ?|\b(?:of|to|for|by|with|from|as|than|and|or|but|is|are|was|that|if|when|while|because|where|until|unless|not|only) )who\b(?!-)/i,
  ],
  ['no clause with "whoever"', /\b(?:whoever|whomever)\b/i],
  ['use "otherwise" for "else"', /(?<!\b(?:any|no|every|some)(?:thing|body|one|where) )\belse\b/i],
  // A server stands behind a proxy, and a reader falls behind. Everything that remains is after or next to.
  [
    'use "after" or "next to" for "behind" and "beside"',
    /\bbeside\b|\bbehind (?!(?:an?|the|its|your|one|any|that|another|this) (?:reverse )?(?:prox|load|nginx|gateway|firewall|ingress)|(?:by|if|when|them|costs|after|this clock|the end of|a moment)\b)\w/i,
  ],
  ...[
    /\b(?:hear|hears|heard|hearing)\b/i,
    /\bwish(?:es|ed)?\b/i,
    /\bsaid\b|\bsays? so\b/i,
    /\btold\b/i,
    /\basked\b/i,
    /(?<!how long it )\btook\b/i,
    /\b(?:a|its|their|his|your|the|no) word of\b/i,
    /\bfates?\b/i,
    /\bcomplaints?\b/i,
    /\bgive ?Up\b(?<=U.)|\bletGo\b/,
    /\bin vain\b/i,
    /\bof (?:its|their) own\b(?! (?!(?:and|or|in|on|at|to|is|that|which|for|with|by|where|when|if|as)\b)[a-z])/i,
    /\bas (?:it|they) came\b/i,
    /\bdesk\b/i,
  ].map((pattern): [string, RegExp] => ['banned word', pattern]),
]

const itsMax = 3
const its = /\b(?:its?|ones?)\b/gi

/** A noun that hangs on a noun that hangs on a noun: "the calls of tools of a client". */
const nestedOf =
  /\bof(?: (?!(?:and|are|for|from|in|is|on|or|out|that|to|which|with)\b)[\w'-]+){1,3} of\b/i

/** Faults in the order of their lines. `file` decides how the text is read: `.md`, or a source. */
export function faultsIn(file: string, text: string): Fault[] {
  return paragraphsOf(file, text).flatMap((paragraph) => {
    const at = { file, kind: paragraph.kind }
    const masked = maskedText(paragraph.text)
    const faults = sentencesOf(masked).flatMap(({ sentence, offset }) =>
      rulesBrokenBy(sentence, masked, paragraph.kind).map((rule) => ({
        ...at,
        line: paragraph.lineAt(offset),
        rule,
        sentence: paragraph.text.slice(offset, offset + sentence.length).trim(),
      })),
    )
    if (masked.split(';').length <= 2) return faults
    const rule = 'at most one semicolon a paragraph'
    const line = paragraph.lineAt(masked.indexOf(';'))
    return [...faults, { ...at, line, rule, sentence: paragraph.text.trim() }]
  })
}

function rulesBrokenBy(sentence: string, paragraph: string, kind: Kind): string[] {
  const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
  const question = /\?\s*$/.test(sentence) || /\?$/.test(paragraph)
  return [
    ...banned
      .filter(([, pattern]) => pattern.test(sentence))
      .filter(([rule]) => !(question && /"wh(?:at|o)"/.test(rule)))
      .map(([rule, pattern]) =>
        rule === 'banned word' ? `${rule}: ${pattern.exec(sentence)?.[0]}` : rule,
      ),
    ...((sentence.match(its)?.length ?? 0) > itsMax
      ? [`name the thing again: at most ${itsMax} times it, its and one a sentence`]
      : []),
    ...(kind === 'markdown' && nestedOf.test(sentence)
      ? ['at most one "of" in a noun phrase']
      : []),
    ...(words > maxWords ? [`at most ${maxWords} words a sentence, here ${words}`] : []),
  ]
}

export type Rates = { words: number; it: number; of: number }

/** Uses of `it`, `its` and `one`, and of `of`, per 1,000 words. A page names things again instead. */
export function ratesOf(file: string, text: string): Rates {
  const masked = paragraphsOf(file, text).map(({ text: prose }) => maskedText(prose))
  const count = (pattern: RegExp) =>
    masked.reduce((sum, prose) => sum + (prose.match(pattern)?.length ?? 0), 0)
  const words = count(/[\p{L}\p{N}][^\s]*/gu)
  const rate = (pattern: RegExp) => Math.round((count(pattern) * 10_000) / words) / 10
  // A share, such as 16 of 16, is a number.
  return { words, it: rate(its), of: rate(/(?<!\d )\bof\b/gi) }
}

/** The same text, as long as before, with `x` for all letters of code spans and quoted texts. */
function maskedText(text: string): string {
  const mask = (span: string) => span.replace(/[^`"]/g, 'x')
  return text
    .replace(/(`+)(?:(?!\1).)+\1/gs, mask)
    .replace(/"[^"]{1,300}"/g, mask)
    .replace(/\]\([^)\s]*\)/g, (link) => 'x'.repeat(link.length))
    .replace(/https?:\/\/\S+/g, mask)
}

/**
 * A sentence ends at a full stop before a blank and a capital or a mark, but not after "e.g." and
 * the like.
 */
function sentencesOf(text: string): { sentence: string; offset: number }[] {
  const ends = [...text.matchAll(/[.!?]["')*_`\]]*(?=\s+(?:\*\*|["'(*_`[]*[\p{Lu}\p{N}x`]))/gu)]
    .filter(
      ({ index }) => !/(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|No|[A-Z])$/.test(text.slice(0, index)),
    )
    .map((match) => match.index + match[0].length)
  return [0, ...ends].map((start, n) => ({
    sentence: text.slice(start, ends[n] ?? text.length),
    offset: start + (/\S/.exec(text.slice(start))?.index ?? 0),
  }))
}
