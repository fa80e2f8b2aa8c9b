// The paragraphs of a Markdown text, or of the comments and test titles of a source. List items,
// headings and table cells are paragraphs too. Code blocks and front matter are left out.

import { parseSync, Visitor } from 'oxc-parser'

export type Kind = 'markdown' | 'comment' | 'title'
export type Paragraph = { kind: Kind; text: string; lineAt(offset: number): number }

type Line = { number: number; text: string }

export function paragraphsOf(file: string, text: string): Paragraph[] {
  if (file.endsWith('.md')) {
    const lines = text.split('\n').map((line, index) => ({ number: index + 1, text: line }))
    return paragraphsOfLines('markdown', withoutFrontMatter(lines))
  }
  const parsed = parseSync(file, text)
  const lineOf = lineFinder(text)
  const blocks: Line[][] = []
  for (const { type, value, start } of parsed.comments) {
    if (/^(?:!|#!)/.test(value)) continue
    const first = lineOf(start)
    const lines = value.split('\n').map((line, index) => ({
      number: first + index,
      text: (type === 'Block' ? line.replace(/^\s*\*+ ?/, '') : line.replace(/^\/* /, ''))
        .replace(/^\s*biome-ignore \S+:/, '')
        .replace(/^@(?:param|returns|throws|default)\b/, ''),
    }))
    const before = blocks.at(-1)
    if (type === 'Line' && before?.at(-1)?.number === first - 1) before.push(...lines)
    else blocks.push(lines)
  }
  return [
    ...blocks.flatMap((lines) => paragraphsOfLines('comment', lines)),
    ...(mayHaveTitles.test(text) ? titlesOf(parsed.program, text) : []).map(({ title, start }) =>
      paragraph('title', [{ number: lineOf(start), text: title }]),
    ),
  ].sort((one, other) => one.lineAt(0) - other.lineAt(0))
}

function paragraphsOfLines(kind: Kind, lines: Line[]): Paragraph[] {
  const paragraphs: Line[][] = []
  let open: Line[] | undefined
  let fence: string | undefined
  let inList = false
  for (const { number, text } of lines) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1]
    if (mark !== undefined) {
      fence = fence === undefined ? mark : mark.startsWith(fence) ? undefined : fence
      open = undefined
      continue
    }
    if (fence !== undefined) continue
    if (/^\s*(?:<!--.*-->)?\s*$/.test(text)) {
      open = undefined
      continue
    }
    if (open === undefined && !inList && /^(?: {4}|\t)/.test(text)) continue
    if (/^\s*\|/.test(text)) {
      paragraphs.push(...cellsOf(text).map((cell) => [{ number, text: cell }]))
      open = undefined
      continue
    }
    const opener = /^\s*(?:[-*+] |\d+[.)] |#+ |> ?|[A-Z][A-Z-]*\d+\. |[A-Z][A-Z-]+-\d+\. )/.exec(
      text,
    )
    if (!/^\s/.test(text)) inList = /^(?:[-*+]|\d+[.)]) /.test(text)
    if (opener !== null || open === undefined) {
      open = []
      paragraphs.push(open)
    }
    open.push({ number, text: text.slice(opener?.[0].length ?? 0).trim() })
    if (/^\s*#+ /.test(text)) open = undefined
  }
  return paragraphs.map((lines) => paragraph(kind, lines))
}

function paragraph(kind: Kind, lines: Line[]): Paragraph {
  const numbers = lines.flatMap(({ number, text }) =>
    new Array<number>(text.length + 1).fill(number),
  )
  return {
    kind,
    text: lines.map(({ text }) => text).join(' '),
    lineAt: (offset) => numbers[offset] ?? lines.at(-1)?.number ?? 0,
  }
}

const cellsOf = (row: string): string[] =>
  row
    .replace(/(`+)(?:(?!\1).)+\1/g, (code) => code.replaceAll('|', ' '))
    .split('|')
    .filter((cell) => /\p{L}/u.test(cell))

function withoutFrontMatter(lines: Line[]): Line[] {
  if (lines[0]?.text !== '---') return lines
  return lines.slice(lines.findIndex(({ text }, index) => index > 0 && text === '---') + 1)
}

/** The tree of a source is read only for its titles, because that takes most of the time. */
const mayHaveTitles = /(?<![\w.])(?:it|test|describe)(?:\.\w+)*\s*[(<`]/

/** First arguments of it, test and describe, also after `.each(…)` and `.skip`. */
function titlesOf(program: unknown, text: string): { title: string; start: number }[] {
  const titles: { title: string; start: number }[] = []
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (!/^(?:it|test|describe)\b/.test(text.slice(callee.start, callee.end))) return
      if (first?.type === 'Literal' && typeof first.value === 'string') {
        titles.push({ title: first.value, start: first.start })
      }
      if (first?.type === 'TemplateLiteral') {
        titles.push({ title: text.slice(first.start + 1, first.end - 1), start: first.start })
      }
    },
  }).visit(program as Parameters<Visitor['visit']>[0])
  return titles
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (offset) => {
    const after = starts.findIndex((start) => start > offset)
    return after < 0 ? starts.length : after
  }
}
